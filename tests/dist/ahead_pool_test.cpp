#include "dist/ahead_pool.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <latch>
#include <stdexcept>
#include <string>

#include "dist/cores.h"

using namespace tg;

BOOST_AUTO_TEST_SUITE(ahead_pool)

// Holds the pool's only thread until open() is called, so that a queue can be filled.
class Door {
 public:
  explicit Door(AheadPool& pool) {
    pool.submit_urgent([this] { latch_.wait(); });
  }
  void open() { latch_.count_down(); }

 private:
  std::latch latch_{1};
};

BOOST_AUTO_TEST_CASE(the_earliest_needed_is_done_first) {
  AheadPool pool(1, 1);
  Door door(pool);
  std::string order;
  std::vector<AheadPool::Handle> work;
  for (const auto& [time, name] : {std::pair{3.0, 'd'}, {1.0, 'b'}, {2.0, 'c'}, {3.0, 'e'}})
    work.push_back(pool.submit(time, [&order, name = name] { order += name; }));
  work.push_back(pool.submit_urgent([&order] { order += 'a'; }));
  door.open();
  for (const auto& piece : work)
    while (!pool.done(piece)) std::this_thread::yield();
  BOOST_TEST(order == "abcde");
}

BOOST_AUTO_TEST_CASE(what_is_waited_for_goes_first) {
  AheadPool pool(1, 1);
  Door door(pool);
  std::string order;
  pool.submit(1, [&] { order += 'c'; });
  const auto urgent = pool.submit_urgent([&] { order += 'b'; });
  const auto wanted = pool.submit(2, [&] { order += 'a'; });
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    door.open();
  });
  pool.wait(wanted);
  opener.join();
  pool.wait(urgent);
  BOOST_TEST(order.substr(0, 2) == "ab");
}

// With one thread, so that two pieces at a time would be one too many.
BOOST_AUTO_TEST_CASE(who_waits_works_where_a_thread_is_idle_and_never_beside_it) {
  AheadPool pool(1, 3);
  std::atomic<int> running = 0, most_running = 0, here = 0, wrong_omp_threads = 0;
  const auto caller = std::this_thread::get_id();
  const auto piece = [&] {
    most_running = std::max(most_running.load(), ++running);
    here += std::this_thread::get_id() == caller;
    wrong_omp_threads += omp_get_max_threads() != 3;
    --running;
  };
  const int own_omp_threads = omp_get_max_threads();
  for (int i = 0; i < 300; ++i) {
    const auto first = pool.submit(i, piece), second = pool.submit(i, piece);
    pool.wait(first);
    pool.wait(second);
  }
  BOOST_TEST(most_running == 1);
  BOOST_TEST(here > 0);
  BOOST_TEST(wrong_omp_threads == 0);
  BOOST_TEST(omp_get_max_threads() == own_omp_threads);
}

BOOST_AUTO_TEST_CASE(threads_stay_on_their_core_where_there_is_one_for_each) {
  const std::vector<int> cores = usable_cores();
  const int count = static_cast<int>(cores.size());
  const auto cores_in_pool = [](int threads, int omp_threads) {
    AheadPool pool(threads, omp_threads);
    std::vector<int> seen;
    const auto look = pool.submit_urgent([&] { seen = usable_cores(); });
    while (!pool.done(look)) std::this_thread::yield();
    return seen;
  };
  const std::vector<int> tied = cores_in_pool(count, 1);
  BOOST_TEST(tied.size() == 1u);
  BOOST_TEST(std::count(cores.begin(), cores.end(), tied.at(0)) == 1);
  BOOST_TEST(cores_in_pool(count + 1, 1) == cores, boost::test_tools::per_element());
  BOOST_TEST(cores_in_pool(1, 2) == cores, boost::test_tools::per_element());
  BOOST_TEST(usable_cores() == cores, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_more_is_begun_ahead_than_the_limit) {
  AheadPool pool(1, 1);
  pool.limit_ahead(2);
  std::atomic<int> begun = 0;
  std::vector<AheadPool::Handle> work;
  for (int i = 0; i < 6; ++i) work.push_back(pool.submit(i, [&] { ++begun; }));
  const auto begun_later = [&](int expected) {
    while (begun < expected) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return begun.load();
  };
  BOOST_TEST(begun_later(2) == 2);
  BOOST_TEST(pool.done(work[1]));
  BOOST_TEST(!pool.done(work[2]));
  pool.wait(work[0]);
  BOOST_TEST(begun_later(3) == 3);
  pool.wait(work[5]);  // in spite of the limit
  BOOST_TEST(begun_later(4) == 4);
  pool.limit_ahead(100);
  BOOST_TEST(begun_later(6) == 6);
}

BOOST_AUTO_TEST_CASE(exceptions_reach_who_waits) {
  AheadPool pool(2, 1);
  const auto bad = pool.submit(0, [] { throw std::runtime_error("bad"); });
  const auto good = pool.submit(0, [] {});
  BOOST_CHECK_THROW(pool.wait(bad), std::runtime_error);
  pool.wait(good);
  BOOST_TEST(pool.done(bad));
}

BOOST_AUTO_TEST_CASE(closing_drops_what_was_not_begun) {
  AheadPool pool(1, 1);
  std::atomic<bool> ran = false, began = false;
  std::latch latch(1);
  const auto running = pool.submit_urgent([&] {
    began = true;
    latch.wait();
  });
  const auto dropped = pool.submit(0, [&] { ran = true; });
  while (!began) std::this_thread::yield();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    latch.count_down();
  });
  pool.close();
  opener.join();
  BOOST_TEST(pool.done(running));
  BOOST_TEST(!ran);
  BOOST_CHECK_THROW(pool.wait(dropped), std::exception);
}

BOOST_AUTO_TEST_SUITE_END()
