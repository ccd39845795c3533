#include "dist/history/trace.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/core/error.h"
#include "tests/temporary_folder.h"

using namespace tg;

namespace {

using Kind = Event::Kind;

// Two workers; worker 1's first message is refused, worker 0's second is late by one.
const std::vector<Event> kEvents = {
    {.kind = Kind::join, .worker = 0, .batch = -1},
    {.kind = Kind::join, .worker = 1, .batch = -1},
    {.kind = Kind::assign, .worker = 0, .batch = 0, .time = 0},
    {.kind = Kind::assign, .worker = 1, .batch = 1, .time = 0.5},
    {.kind = Kind::arrive, .worker = 0, .batch = 0, .version = 1, .time = 2},
    {.kind = Kind::assign, .worker = 0, .batch = 2, .version = 1, .time = 2},
    {.kind = Kind::arrive, .taken = false, .worker = 1, .batch = 1, .version = 1, .time = 3},
    {.kind = Kind::assign, .worker = 1, .batch = 3, .version = 1, .time = 3},
    {.kind = Kind::arrive, .worker = 1, .batch = 3, .version = 2, .time = 4},
    {.kind = Kind::arrive, .worker = 0, .batch = 2, .version = 3, .time = 6},
};
const std::vector<UpdateRecord> kUpdates = {
    {.update = 0, .worker = 0, .batch = 0, .lag = 0, .gap = 0, .loss = 2.5, .learning_rate = 0.1f},
    {.update = 1, .worker = 1, .batch = 3, .lag = 0, .gap = NAN, .loss = 2.25, .learning_rate = 0.1f},
    {.update = 2, .worker = 0, .batch = 2, .lag = 1, .gap = 0.5, .loss = 2, .learning_rate = 0.1f},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(trace)

BOOST_AUTO_TEST_CASE(tasks_begin_with_a_reply_and_end_with_a_message) {
  const Trace all = make_trace("asgd", "s", kEvents, kUpdates, 0, 100);
  BOOST_TEST(all.workers == 2);
  BOOST_REQUIRE(all.tasks.size() == 4u);
  BOOST_TEST(all.tasks[0].begin == 0);
  BOOST_TEST(all.tasks[0].end == 2);
  BOOST_TEST(!all.tasks[1].update.has_value());
  BOOST_TEST(all.tasks[1].begin == 0.5);
  BOOST_TEST(all.tasks[3].update->lag == 1);
  BOOST_TEST(all.tasks[3].begin == 2);
}

BOOST_AUTO_TEST_CASE(a_part_of_the_updates) {
  const Trace part = make_trace("asgd", "s", kEvents, kUpdates, 1, 1);  // what was refused before update 1 is with it
  BOOST_REQUIRE(part.tasks.size() == 2u);
  BOOST_TEST(!part.tasks[0].update.has_value());
  BOOST_TEST(part.tasks[1].update->update == 1);
  BOOST_CHECK_THROW(make_trace("asgd", "s", kEvents, kUpdates, 3, 10), Error);
  BOOST_CHECK_THROW(make_trace("asgd", "s", {}, {}, 0, 10), Error);
}

BOOST_AUTO_TEST_CASE(the_page_holds_the_numbers_and_no_way_out_of_its_script) {
  const std::string page = trace_page(make_trace("</script><b>\xff", "s", kEvents, kUpdates, 0, 100));
  BOOST_TEST(page.find("\"lag\":1") != std::string::npos);
  BOOST_TEST(page.find("\"gap\":null") != std::string::npos);
  BOOST_TEST(page.find("\"gap\":0.5") != std::string::npos);
  BOOST_TEST(page.find("\\u003c/script>") != std::string::npos);
  BOOST_TEST(page.find("/*DATA*/") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_picture_has_a_bar_for_each_task) {
  const TemporaryFolder folder;
  draw_trace(make_trace("asgd", "s", kEvents, kUpdates, 0, 100), folder / "trace.svg");
  const std::string picture = text_of(folder / "trace.svg");
  BOOST_TEST(picture.find("refused by the gate") != std::string::npos);
  BOOST_TEST(picture.find("lag 1 or more") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
