#include "dist/history/event_log.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <sstream>

#include "framework/core/random.h"
#include "tests/dist/fake.h"
#include "tests/temporary_folder.h"

using namespace tg;
using Kind = Event::Kind;

namespace {

std::string hex(const std::string& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i)
    text += fmt::format("{}{:02x}", i == 0 ? "" : i % 16 == 0 ? "\n" : " ", static_cast<unsigned char>(bytes[i]));
  return text;
}

EventLog read(const std::string& bytes) {
  std::istringstream stream(bytes);
  return read_event_log(stream, "some.bin");
}

std::string error_of_bytes(const std::string& bytes) {
  return error_of([&] { read(bytes); });
}
std::string error_of_file(const std::filesystem::path& path) {
  return error_of([&] { read_event_log(path); });
}

std::vector<Event> random_events(int count) {
  Generator random(Stream(9));
  std::vector<Event> events;
  for (int i = 0; i < count; ++i) {
    events.push_back({.kind = static_cast<Kind>(1 + random.below(4)),
                      .taken = random.below(2) == 1,
                      .worker = static_cast<WorkerId>(random.below(100)) - 1,
                      .batch = static_cast<int64_t>(random.below(uint64_t{1} << 40)) - 1,
                      .version = static_cast<int64_t>(random.below(uint64_t{1} << 62)),
                      .learning_rate = static_cast<float>(random.uniform()),
                      .time = random.uniform() * 1e9});
    if (i % 300 == 299) events.back().kind = Kind::evaluate;
    if (events.back().kind == Kind::arrive) events.back().loss = random.normal();
    if (events.back().kind == Kind::evaluate) events.back().theta_hash = random.below(~uint64_t{0});
  }
  return events;
}

void write_log(const std::filesystem::path& path, const std::vector<Event>& events, const EventLogHeader& header = {}) {
  std::filesystem::remove(path);
  EventLogWriter writer(path, header);
  for (const Event& event : events) writer.append(event);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(event_log)

BOOST_AUTO_TEST_CASE(the_bytes_are_those_of_the_drawing) {
  const TemporaryFolder folder;
  write_log(folder / "a.bin",
            {{.kind = Kind::assign, .worker = 3, .batch = 258, .version = 255, .learning_rate = 0.5f, .time = 1},
             {.kind = Kind::arrive,
              .worker = 3,
              .batch = 258,
              .version = 256,
              .learning_rate = 0.5f,
              .time = 64.25,
              .loss = 0.75},
             {.kind = Kind::finish,
              .taken = false,
              .worker = -1,
              .batch = -1,
              .version = 256,
              .time = 128.5,
              .theta_hash = 0x99aabbccddeeff01}},
            {.job_hash = 0x1122334455667788, .shard = 2, .shards = 5});
  BOOST_TEST(hex(text_of(folder / "a.bin")) ==
             "74 67 2d 65 76 65 6e 74 02 00 00 00 30 00 00 00\n"
             "88 77 66 55 44 33 22 11 02 00 00 00 05 00 00 00\n"
             "f1 43 a0 b1 03 00 00 00 00 00 00 00 00 00 00 00\n"
             "9f 14 4b 0c 03 01 00 00 03 00 00 00 02 01 00 00\n"
             "00 00 00 00 ff 00 00 00 00 00 00 00 00 00 00 00\n"
             "00 00 f0 3f 00 00 00 3f 00 00 00 00 00 00 00 00\n"
             "00 00 00 00 04 01 00 00 03 00 00 00 02 01 00 00\n"
             "00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00\n"
             "00 10 50 40 00 00 00 3f 00 00 00 00 00 00 00 00\n"
             "00 00 e8 3f 06 00 00 00 ff ff ff ff ff ff ff ff\n"
             "ff ff ff ff 00 01 00 00 00 00 00 00 00 00 00 00\n"
             "00 10 60 40 00 00 00 00 00 00 00 00 01 ff ee dd\n"
             "cc bb aa 99 92 8e 59 28");
}

BOOST_AUTO_TEST_CASE(events_come_back_as_they_were) {
  const TemporaryFolder folder;
  for (const int count : {0, 1, 127, 128, 129, 1000}) {
    const std::vector<Event> events = random_events(count);
    const EventLogHeader header = {.job_hash = ~uint64_t{0}, .shard = 1, .shards = 2};
    write_log(folder / "a.bin", events, header);
    const EventLog log = read_event_log(folder / "a.bin");
    BOOST_TEST((log.header == header));
    BOOST_TEST((log.events == events));
    BOOST_TEST(log.unfinished_bytes == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_log_can_be_read_while_it_grows) {
  const TemporaryFolder folder;
  EventLogWriter writer(folder / "a.bin", {});
  const auto visible = [&] { return read_event_log(folder / "a.bin").events.size(); };
  BOOST_TEST(visible() == 0u);
  const std::vector<Event> events = random_events(130);
  for (const Event& event : events) writer.append(event);
  BOOST_TEST(visible() == 128u);
  writer.append({.kind = Kind::evaluate, .worker = -1});
  BOOST_TEST(visible() == 131u);
  writer.append(events[0]);
  BOOST_TEST(visible() == 131u);
  writer.flush();
  BOOST_TEST(visible() == 132u);
}

// A crash leaves any beginning of the file: the whole blocks in it can be read.
BOOST_AUTO_TEST_CASE(a_file_cut_at_any_byte_is_valid_up_to_its_last_whole_block) {
  const TemporaryFolder folder;
  std::vector<Event> events = random_events(12);
  events[4].kind = events[5].kind = Kind::evaluate;  // blocks of 5, 1 and 6 events
  write_log(folder / "a.bin", events);
  const std::string whole = text_of(folder / "a.bin");
  constexpr size_t header = 36, ends[] = {header, header + 260, header + 328, header + 636};
  constexpr size_t counts[] = {0, 5, 6, 12};
  BOOST_REQUIRE(whole.size() == ends[3]);
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    if (length < header) {
      BOOST_REQUIRE(contains(error_of_bytes(cut), "some.bin: byte 0: this is no event log"));
      continue;
    }
    size_t block = 0;
    while (block < 3 && ends[block + 1] <= length) ++block;
    const EventLog log = read(cut);
    BOOST_REQUIRE(log.events.size() == counts[block]);
    BOOST_REQUIRE(log.unfinished_bytes == static_cast<int64_t>(length - ends[block]));
    BOOST_REQUIRE(std::equal(log.events.begin(), log.events.end(), events.begin()));
  }
}

BOOST_AUTO_TEST_CASE(a_flipped_bit_is_found_wherever_it_is) {
  const TemporaryFolder folder;
  write_log(folder / "a.bin", random_events(3));
  const std::string whole = text_of(folder / "a.bin");
  for (size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const std::string message = error_of_bytes(damaged);
      BOOST_REQUIRE_MESSAGE(message.find("some.bin: byte ") != std::string::npos, "byte " << i << ": " << message);
    }
}

BOOST_AUTO_TEST_CASE(blocks_that_are_missing_or_twice_there_are_found) {
  const TemporaryFolder folder;
  std::vector<Event> events = random_events(2);
  for (Event& event : events) event.kind = Kind::evaluate;
  write_log(folder / "a.bin", events);
  const std::string whole = text_of(folder / "a.bin");
  const std::string header = whole.substr(0, 36), first = whole.substr(36, 68), second = whole.substr(104);
  BOOST_TEST(
      contains(error_of_bytes(header + second), "byte 40: a block that starts with event 1; the one before ends at 0"));
  BOOST_TEST(contains(error_of_bytes(header + first + first), "byte 108: a block that starts with event 0"));
}

BOOST_AUTO_TEST_CASE(files_that_are_no_logs_are_refused) {
  const TemporaryFolder folder;
  BOOST_TEST(contains(error_of_file(folder / "none.bin"), "none.bin: cannot be opened"));
  BOOST_TEST(contains(error_of_file(folder / ""), "not a file"));
  BOOST_TEST(contains(error_of_bytes(std::string(1000, '\0')), "this is no event log"));

  write_log(folder / "a.bin", {});
  std::string newer = text_of(folder / "a.bin");
  newer[8] = 3;
  BOOST_TEST(contains(error_of_bytes(newer), "byte 8: version 3 of the format; this program reads version 2"));

  newer[8] = 1;
  BOOST_TEST(contains(error_of_bytes(newer), "byte 8: version 1 of the format; this program reads version 2"));

  BOOST_CHECK_THROW(EventLogWriter(folder / "a.bin", {}), Error);  // it is there already
  BOOST_CHECK_THROW(EventLogWriter(folder / "b.bin", {.shard = 1, .shards = 1}), Error);
  BOOST_CHECK_THROW(EventLogWriter(folder / "no/such/folder", {}), Error);
}

BOOST_AUTO_TEST_CASE(a_runs_shards_are_read_together) {
  const TemporaryFolder folder;
  const auto write = [&](int shard, int shards, uint64_t hash, int named) {
    write_log(folder / event_log_name(named, shards).c_str(), random_events(shard + 1),
              {.job_hash = hash, .shard = shard, .shards = shards});
  };
  const auto trouble = [&] { return error_of([&] { read_event_logs(folder / ""); }); };
  BOOST_TEST(contains(trouble(), "there is neither events.bin nor events-0.bin"));
  for (const int shard : {0, 1, 2}) write(shard, 3, 7, shard);
  const std::vector<EventLog> logs = read_event_logs(folder / "");
  BOOST_REQUIRE(logs.size() == 3u);
  for (size_t shard = 0; shard < 3; ++shard) BOOST_TEST(logs[shard].events.size() == shard + 1);

  write(2, 3, 8, 2);
  BOOST_TEST(contains(trouble(), "events-2.bin: this is the log of shard 2 of 3 of another run"));
  write(1, 3, 7, 2);
  BOOST_TEST(contains(trouble(), "shard 1 of 3 of this run; shard 2 of 3 is expected"));
  std::filesystem::remove(folder / "events-2.bin");
  BOOST_TEST(contains(trouble(), "events-2.bin: cannot be opened"));
  write(0, 1, 7, 0);
  BOOST_TEST(read_event_logs(folder / "").size() == 1u);
  std::filesystem::copy_file(folder / "events-1.bin", folder / "events.bin",
                             std::filesystem::copy_options::overwrite_existing);
  BOOST_TEST(contains(trouble(), "events.bin: this is the log of shard 1 of 3"));
}

BOOST_AUTO_TEST_CASE(a_run_is_logged_whole) {
  const TemporaryFolder folder;
  const fake::QuadraticTask task;
  const fake::PlainRule rule;
  struct Log : fake::Recorder {
    explicit Log(const std::filesystem::path& path) : writer(path, {}) {}
    void on_event(int shard, const Event& event) override {
      Recorder::on_event(shard, event);
      writer.append(event);
    }
    EventLogWriter writer;
  } log(folder / "events.bin");
  Job job = fake::job(task, rule, 4, 100);
  job.evaluate_every = 30;
  simulate(job, {.pool_threads = 2}, log);
  BOOST_TEST((read_event_log(folder / "events.bin").events == log.events));
  BOOST_TEST(log.events.size() > 200u);
}

BOOST_AUTO_TEST_SUITE_END()
