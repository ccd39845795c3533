// The identities between rules, and what workers are said to have been sent, on the simulator.
#include "optim/registry.h"
#include "tests/dist/fake.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"
#include "tests/optim/identities.h"
#include "tests/optim/sent_check.h"

namespace {

using namespace tg;
using namespace tg::test;

constexpr int64_t kGradients = 200;

const fake::QuadraticTask kTask(37);

History simulated(const Rule& rule, int workers, const Schedule& schedule) {
  Job job = fake::job(kTask, rule, workers, kGradients);
  job.schedule = schedule;
  return fake::run(job, {.clock = {.heterogeneous = true}, .link = {}, .pool_threads = 2});
}

std::vector<float> run(const std::string& spec, int workers, const Schedule& schedule) {
  return simulated(*rule(spec), workers, schedule).theta;
}

const std::vector<Schedule> kSchedules = {constant_rate(0.1), changing_rate(0.1)};

BOOST_AUTO_TEST_SUITE(on_simulator)

BOOST_AUTO_TEST_CASE(one_worker) { one_worker_is_sgd(run, kSchedules); }
BOOST_AUTO_TEST_CASE(lambda_zero) { lambda_zero_is_without_compensation(run, kSchedules); }
BOOST_AUTO_TEST_CASE(dana_zero_is_nesterov) { one_worker_ahead_is_nesterov(run, kSchedules); }
BOOST_AUTO_TEST_CASE(momentum_zero) { momentum_zero_is_without_velocity(run, kSchedules); }
BOOST_AUTO_TEST_CASE(unequal_rules_differ) { rules_differ(run, kSchedules); }

BOOST_AUTO_TEST_CASE(rate_zero) {
  std::vector<float> initial(static_cast<size_t>(kTask.layout().size()));
  kTask.initial(Job().seed, {initial.data(), kTask.layout().size()});
  rate_zero_changes_nothing(run, initial);
}

BOOST_AUTO_TEST_CASE(sent_is_what_the_rule_wrote) {
  for (const char* spec : {"asgd", "dc-asgd-c", "dana-zero", "ssgd:momentum=0.9,nesterov=true,backup=1"}) {
    const auto inner = rule(spec);
    const SentCheck checking(*inner);
    BOOST_TEST_CONTEXT(spec) {
      simulated(checking, 6, kSchedules[1]);
      BOOST_TEST(checking.checked() == kGradients);
    }
  }
}

BOOST_AUTO_TEST_CASE(synchronous_gradients_are_never_late) {
  const History ssgd = simulated(*rule("ssgd"), 4, kSchedules[0]);
  for (const UpdateRecord& update : ssgd.updates) BOOST_TEST(update.lag == 0);
  const History asgd = simulated(*rule("asgd"), 4, kSchedules[0]);
  BOOST_TEST(summarise(asgd).mean_lag > 2.5);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
