// The identities between rules, on the minimal engine.
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"
#include "tests/optim/identities.h"

namespace {

using namespace tg;
using namespace tg::test;

constexpr int64_t kGradients = 200;

const Logistic kTask(37);  // with a gap behind the parameters

std::vector<float> run(const std::string& spec, int workers, const Schedule& schedule) {
  const auto rule = test::rule(spec);
  Driver driver(*rule, kTask.layout(), kTask.initial(), kTask.gradient(), schedule);
  for (WorkerId worker = 0; worker < workers; ++worker) driver.join(worker);
  arrive_at_random(driver, kGradients, 1);
  return values_of(driver.theta());
}

const std::vector<Schedule> kSchedules = {constant_rate(0.1), changing_rate(0.1)};

BOOST_AUTO_TEST_SUITE(identities)

BOOST_AUTO_TEST_CASE(one_worker) { one_worker_is_sgd(run, kSchedules); }
BOOST_AUTO_TEST_CASE(lambda_zero) { lambda_zero_is_without_compensation(run, kSchedules); }
BOOST_AUTO_TEST_CASE(dana_zero_is_nesterov) { one_worker_ahead_is_nesterov(run, kSchedules); }
BOOST_AUTO_TEST_CASE(momentum_zero) { momentum_zero_is_without_velocity(run, kSchedules); }
BOOST_AUTO_TEST_CASE(rate_zero) { rate_zero_changes_nothing(run, kTask.initial()); }
BOOST_AUTO_TEST_CASE(unequal_rules_differ) { rules_differ(run, kSchedules); }

BOOST_AUTO_TEST_CASE(gaps_stay_zero) {
  for (const char* rule : {"ssgd:weight-decay=0.01", "dc-asgd-a:weight-decay=0.01", "dana-zero:weight-decay=0.01"}) {
    const std::vector<float> theta = run(rule, 4, kSchedules[1]);
    BOOST_TEST(same_bits(view_of(theta).part(37, 11), view_of(std::vector<float>(11))));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
