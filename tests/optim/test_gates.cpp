// Who waits for whom.
#include <boost/test/unit_test.hpp>

#include "framework/core/error.h"
#include "optim/gates.h"

namespace {

using tg::Async;
using tg::Bsp;
using tg::Gate;
using tg::Release;
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
