// Who waits for whom.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <vector>

#include "framework/core/error.h"
#include "framework/core/random.h"
#include "optim/gates.h"
#include "optim/state_map.h"

namespace {

using tg::Async;
using tg::Bsp;
using tg::Gate;
using tg::Release;
using tg::Ssp;
using tg::Verdict;

void join(Gate& gate, int workers) {
  for (int worker = 0; worker < workers; ++worker) BOOST_CHECK(gate.join(worker) == Release{worker});
}
void check_waits(Gate& gate, int worker) {
  const Verdict verdict = gate.arrive(worker, 0);
  BOOST_CHECK(verdict.taken);
  BOOST_CHECK(verdict.release.empty());
}
void check_releases(Gate& gate, int worker, const Release& release) {
  const Verdict verdict = gate.arrive(worker, 0);
  BOOST_CHECK(verdict.taken);
  BOOST_CHECK(verdict.release == release);
}
void check_refused(Gate& gate, int worker) {
  const Verdict verdict = gate.arrive(worker, 0);
  BOOST_CHECK(!verdict.taken);
  BOOST_CHECK(verdict.release == Release{worker});
}

BOOST_AUTO_TEST_SUITE(gates)

BOOST_AUTO_TEST_CASE(async_lets_everyone_go_on) {
  Async gate;
  join(gate, 2);
  for (const int worker : {1, 1, 0, 1}) check_releases(gate, worker, {worker});
  BOOST_CHECK(gate.leave(0).empty());
  check_releases(gate, 1, {1});
}

BOOST_AUTO_TEST_CASE(bsp_waits_for_all_and_releases_in_order) {
  Bsp gate;
  join(gate, 3);
  for (int round = 0; round < 3; ++round) {
    check_waits(gate, 2);
    check_waits(gate, 0);
    check_releases(gate, 1, {0, 1, 2});
  }
}

BOOST_AUTO_TEST_CASE(bsp_with_one_worker_never_waits) {
  for (const int backup : {0, 1, 5}) {
    Bsp gate(backup);
    join(gate, 1);
    for (int round = 0; round < 3; ++round) check_releases(gate, 0, {0});
  }
}

BOOST_AUTO_TEST_CASE(a_leave_opens_the_barrier) {
  Bsp gate;
  join(gate, 3);
  check_waits(gate, 0);
  check_waits(gate, 2);
  BOOST_CHECK((gate.leave(1) == Release{0, 2}));  // it was what the others waited for
  check_waits(gate, 2);
  check_releases(gate, 0, {0, 2});
}

BOOST_AUTO_TEST_CASE(one_that_leaves_while_it_waits_is_not_released) {
  Bsp gate;
  join(gate, 3);
  check_waits(gate, 1);
  BOOST_CHECK(gate.leave(1).empty());  // two are still at work
  check_waits(gate, 0);
  check_releases(gate, 2, {0, 2});
}

BOOST_AUTO_TEST_CASE(all_may_leave_and_come_again) {
  Bsp gate;
  join(gate, 2);
  check_waits(gate, 0);
  BOOST_CHECK(gate.leave(0).empty());
  BOOST_CHECK(gate.leave(1).empty());
  join(gate, 2);
  check_waits(gate, 1);
  check_releases(gate, 0, {0, 1});
}

BOOST_AUTO_TEST_CASE(a_round_waits_for_one_that_joins) {
  Bsp gate;
  join(gate, 2);
  check_waits(gate, 0);
  BOOST_CHECK(gate.join(2) == Release{2});  // with the parameters of this round
  check_waits(gate, 1);
  check_releases(gate, 2, {0, 1, 2});
}

BOOST_AUTO_TEST_CASE(backup_workers_are_not_waited_for) {
  Bsp gate(1);
  join(gate, 3);
  check_waits(gate, 2);
  check_releases(gate, 0, {0, 2});  // two of three close the round
  check_refused(gate, 1);           // late: dropped, and sent the parameters of the open round
  check_waits(gate, 1);             // whose gradient counts
  check_releases(gate, 2, {1, 2});
  check_refused(gate, 0);
}

BOOST_AUTO_TEST_CASE(a_late_worker_stays_late_however_many_rounds_pass) {
  Bsp gate(1);
  join(gate, 3);
  for (int round = 0; round < 4; ++round) {
    check_waits(gate, 0);
    check_releases(gate, 1, {0, 1});
  }
  check_refused(gate, 2);
  check_waits(gate, 2);
}

BOOST_AUTO_TEST_CASE(a_late_worker_that_leaves_makes_the_quorum_smaller) {
  Bsp gate(1);
  join(gate, 4);
  check_waits(gate, 0);
  check_waits(gate, 1);
  BOOST_CHECK((gate.leave(3) == Release{0, 1}));  // three are left, and two of them have arrived
  check_refused(gate, 2);
}

BOOST_AUTO_TEST_CASE(at_least_one_is_waited_for) {
  Bsp gate(9);
  join(gate, 3);
  check_releases(gate, 1, {1});
  BOOST_CHECK(gate.leave(0).empty());
  check_releases(gate, 1, {1});
  check_refused(gate, 2);
}

BOOST_AUTO_TEST_CASE(what_an_engine_must_not_do) {
  Bsp gate;
  join(gate, 2);
  BOOST_CHECK_THROW(gate.join(0), tg::Error);
  BOOST_CHECK_THROW(gate.arrive(7, 0), tg::Error);
  BOOST_CHECK_THROW(gate.leave(7), tg::Error);
  check_waits(gate, 0);
  BOOST_CHECK_THROW(gate.arrive(0, 1), tg::Error);  // it waits
}

BOOST_AUTO_TEST_CASE(only_async_never_waits) {
  BOOST_TEST(!Async().waits());
  BOOST_TEST(Bsp().waits());
  BOOST_TEST(Ssp(1000).waits());
  BOOST_TEST(Bsp().in_rounds());
  BOOST_TEST(!Async().in_rounds());
  BOOST_TEST(!Ssp(0).in_rounds());
}

BOOST_AUTO_TEST_CASE(ssp_lets_a_worker_run_ahead_as_far_as_its_bound) {
  Ssp gate(2);
  join(gate, 2);
  check_releases(gate, 0, {0});
  check_releases(gate, 0, {0});
  check_waits(gate, 0);             // three ahead
  check_releases(gate, 1, {0, 1});  // two ahead again
  check_waits(gate, 0);
  check_releases(gate, 1, {0, 1});
}

BOOST_AUTO_TEST_CASE(ssp_with_bound_zero_keeps_all_in_step) {
  Ssp gate(0);
  join(gate, 3);
  for (int round = 0; round < 3; ++round) {
    check_waits(gate, 2);
    check_waits(gate, 0);
    check_releases(gate, 1, {0, 1, 2});
  }
}

BOOST_AUTO_TEST_CASE(ssp_with_one_worker_never_waits) {
  Ssp gate(0);
  join(gate, 1);
  for (int round = 0; round < 3; ++round) check_releases(gate, 0, {0});
}

// However the arrivals come, nobody is ever more than the bound ahead of the slowest, and somebody can always go on.
BOOST_AUTO_TEST_CASE(ssp_keeps_its_bound_and_never_locks_up) {
  for (const int64_t bound : {0, 1, 3}) {
    Ssp gate(bound);
    constexpr int kWorkers = 5;
    std::vector<int64_t> begun(kWorkers, 1), done(kWorkers, 0);
    std::vector<int> working;
    for (int i = 0; i < kWorkers; ++i) working.push_back(i);
    join(gate, kWorkers);
    uint32_t random = 1;
    for (int step = 0; step < 2000; ++step) {
      BOOST_REQUIRE(!working.empty());
      random = random * 1664525 + 1013904223;
      const size_t place = (random >> 8) % working.size();
      const int worker = working[place];
      working.erase(working.begin() + static_cast<std::ptrdiff_t>(place));
      ++done[static_cast<size_t>(worker)];
      const int64_t slowest = *std::min_element(done.begin(), done.end());
      for (const int released : gate.arrive(worker, 0).release) {
        ++begun[static_cast<size_t>(released)];
        working.push_back(released);
        BOOST_REQUIRE(begun[static_cast<size_t>(released)] - 1 <= slowest + bound);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ssp_does_not_wait_for_one_that_left) {
  Ssp gate(1);
  join(gate, 3);
  check_releases(gate, 0, {0});
  check_waits(gate, 0);
  check_releases(gate, 1, {1});
  check_waits(gate, 1);
  BOOST_CHECK((gate.leave(2) == Release{0, 1}));
  BOOST_CHECK(gate.leave(1).empty());
  check_releases(gate, 0, {0});
  BOOST_CHECK(gate.leave(0).empty());
}

BOOST_AUTO_TEST_CASE(ssp_takes_in_a_late_worker_level_with_the_slowest) {
  Ssp gate(1);
  join(gate, 2);
  for (int i = 0; i < 5; ++i) {
    check_releases(gate, 0, {0});
    check_releases(gate, 1, {1});
  }
  BOOST_CHECK(gate.join(2) == Release{2});
  check_releases(gate, 0, {0});  // not five ahead of the one that joined
  BOOST_CHECK_THROW(gate.join(2), tg::Error);
  BOOST_CHECK_THROW(gate.arrive(7, 0), tg::Error);
  BOOST_CHECK_THROW(gate.leave(7), tg::Error);
}

// Random arrivals at a gate and at one that takes over from it half way.
void check_goes_on_as_before(const std::function<std::unique_ptr<Gate>()>& make) {
  const tg::Stream stream = tg::Stream(3).split("arrivals");
  const auto arrive_somewhere = [&](Gate& gate, std::set<int>& working, uint64_t step) {
    auto worker = working.begin();
    std::advance(worker, stream.bits(step)[0] % working.size());
    const int id = *worker;
    working.erase(worker);
    const Verdict verdict = gate.arrive(id, 0);
    working.insert(verdict.release.begin(), verdict.release.end());
    return std::pair(verdict.taken, verdict.release);
  };
  const auto first = make(), second = make();
  std::set<int> working = {0, 1, 2, 3, 4};
  join(*first, 5);
  first->leave(2);
  working.erase(2);
  for (uint64_t step = 0; step < 101; ++step) arrive_somewhere(*first, working, step);
  tg::StateMap state;
  first->save(state);
  second->load(state);
  std::set<int> working_at_second = working;
  for (uint64_t step = 101; step < 300; ++step)
    BOOST_CHECK(arrive_somewhere(*first, working, step) == arrive_somewhere(*second, working_at_second, step));
}

BOOST_AUTO_TEST_CASE(a_gate_goes_on_from_what_another_saved) {
  check_goes_on_as_before([] { return std::make_unique<Async>(); });
  check_goes_on_as_before([] { return std::make_unique<Bsp>(); });
  check_goes_on_as_before([] { return std::make_unique<Bsp>(2); });
  check_goes_on_as_before([] { return std::make_unique<Ssp>(2); });
}

// Backup workers are fewer than all, or a round is over with the first to arrive.
BOOST_AUTO_TEST_CASE(bsp_has_somebody_to_wait_for) {
  for (const int backup : {0, 1, 3}) Bsp(backup).check(4);
  for (const int backup : {4, 5, 1'000'000}) BOOST_CHECK_THROW(Bsp(backup).check(4), tg::Error);
  Bsp(1).check(1);
  Async().check(1);
  Ssp(0).check(1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
