// What single rules do about lateness, by hand: lwp predicts, sa-asgd and gap-aware hold back, dc-ssgd corrects in a
// round.
#include <cmath>

#include "optim/registry.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

// The gradient of batch b is 1 + b everywhere.
void counting_gradient(View, int64_t batch, Span out) {
  std::fill(out.begin(), out.end(), 1.0f + static_cast<float>(batch));
}

struct Run {
  std::unique_ptr<Rule> rule;
  Driver driver;
  Run(const std::string& spec, int workers, float initial = 0, double rate = 0.25)
      : rule(test::rule(spec)),
        driver(*rule, flat_layout(16), std::vector<float>(16, initial), counting_gradient, constant_rate(rate)) {
    for (WorkerId worker = 0; worker < workers; ++worker) driver.join(worker);
  }
  float theta() const { return driver.theta()[15]; }
  float sent(WorkerId worker) const { return driver.sent(worker)[15]; }
};

BOOST_AUTO_TEST_SUITE(late_rules)

// theta - tau eta g, tau = N - 1 for the N that are live.
BOOST_AUTO_TEST_CASE(lwp_without_momentum_predicts_by_the_last_gradient) {
  Run run("lwp:momentum=0", 3);
  run.driver.arrive(0);  // g = 1
  BOOST_TEST(run.theta() == -0.25f);
  BOOST_TEST(run.sent(0) == -0.25f - 2 * 0.25f * 1);
  run.driver.arrive(1);  // g = 2
  BOOST_TEST(run.sent(1) == -0.75f - 2 * 0.25f * 2);
  run.driver.leave(2);
  run.driver.arrive(1);  // batch 4: g = 5
  BOOST_TEST(run.theta() == -2.0f);
  BOOST_TEST(run.sent(1) == -2.0f - 1 * 0.25f * 5);
  run.driver.join(7);
  run.driver.join(8);  // tau = 3
  BOOST_TEST(run.sent(8) == -2.0f - 3 * 0.25f * 5);
}

BOOST_AUTO_TEST_CASE(lwp_measures_each_workers_lag) {
  Run run("lwp:momentum=0,lag=measured", 3);
  run.driver.arrive(0);  // g = 1, lag 0
  BOOST_TEST(run.sent(0) == run.theta());
  run.driver.arrive(0);  // batch 3: g = 4, lag 0
  BOOST_TEST(run.sent(0) == run.theta());
  run.driver.arrive(1);  // g = 2, lag 2
  BOOST_TEST(run.sent(1) == run.theta() - 2 * 0.25f * 2);
  run.driver.join(3);  // nothing measured: 4 - 1
  BOOST_TEST(run.sent(3) == run.theta() - 3 * 0.25f * 2);
}

BOOST_AUTO_TEST_CASE(sa_asgd_divides_by_the_lag) {
  Run run("sa-asgd", 4, 0, 1);
  run.driver.arrive(0);  // g = 1, lag 0: the whole rate
  BOOST_TEST(run.theta() == -1.0f);
  run.driver.arrive(1);  // g = 2, lag 1: too
  BOOST_TEST(run.theta() == -3.0f);
  run.driver.arrive(2);  // g = 3, lag 2
  BOOST_TEST(run.theta() == -4.5f);
  run.driver.arrive(3);  // g = 4, lag 3
  BOOST_TEST(run.theta() == -4.5f - 1.0f / 3 * 4);
}

// w = 1 and eta_max = 0.5. After a step by v = 2 the mean square is 4, corrected: C = 0.5 * 2 + epsilon.
BOOST_AUTO_TEST_CASE(gap_aware_counts_in_typical_steps) {
  const auto rule = test::rule("gap-aware:momentum=0,epsilon=0.25");
  const std::vector<float> initial(16, 1), g(16, 2);
  const auto update = rule->update(flat_layout(16), view_of(initial));
  update->join(0);
  StepInfo info{.learning_rate = 0.1f, .peak_learning_rate = 0.5f, .sent = view_of(initial)};
  update->apply(0, view_of(g), info);
  BOOST_TEST(update->theta()[3] == 0.8f, boost::test_tools::tolerance(1e-6f));  // not moved, so not divided
  std::vector<float> sent(16, 0.8f);
  sent[3] += 2.5f;  // two typical steps away
  info.sent = view_of(sent);
  update->apply(0, view_of(g), info);
  BOOST_TEST(update->theta()[3] == 0.8f - 0.1f * 2 / 3, boost::test_tools::tolerance(1e-5f));
  BOOST_TEST(update->theta()[4] == 0.8f - 0.1f * 2, boost::test_tools::tolerance(1e-5f));
}

// A coordinate that has not moved is not held back, however late.
BOOST_AUTO_TEST_CASE(gap_aware_leaves_alone_what_has_not_moved) {
  const auto rule = test::rule("gap-aware:momentum=0");
  const Gradient one_sided = [](View, int64_t batch, Span out) {
    std::fill(out.begin(), out.end(), 0.0f);
    out[batch < 8 ? 0 : 1] = 1;
  };
  Driver driver(*rule, flat_layout(2), std::vector<float>(16), one_sided, constant_rate(0.1));
  for (WorkerId worker = 0; worker < 9; ++worker) driver.join(worker);
  for (WorkerId worker = 0; worker < 8; ++worker) driver.arrive(worker);
  BOOST_TEST(driver.theta()[0] > -0.8f * 0.75f);  // eight steps, the later ones shorter
  BOOST_TEST(driver.theta()[0] < -0.1f);
  driver.arrive(8);  // eight updates late, in the other coordinate
  BOOST_TEST(driver.theta()[1] == -0.1f);
}

// Round of gradients 1, 2 at 1: 1 - 0.25 = 0.75, then - 0.25 (2 + 0.5 * 4 * (0.75 - 1)).
BOOST_AUTO_TEST_CASE(dc_ssgd_compensates_for_those_before_in_the_round) {
  Run run("dc-ssgd:lambda=0.5", 2, 1);
  run.driver.arrive(0);
  BOOST_TEST(run.theta() == 1.0f);  // nobody sees half a round
  run.driver.arrive(1);
  BOOST_TEST(run.theta() == 0.75f - 0.25f * (2 + 0.5f * 4 * -0.25f));
  for (const WorkerId worker : {0, 1}) BOOST_TEST(run.sent(worker) == run.theta());

  Run other_order("dc-ssgd:lambda=0.5", 2, 1);
  other_order.driver.arrive(1);
  other_order.driver.arrive(0);
  BOOST_TEST(other_order.theta() == 0.5f - 0.25f * (1 + 0.5f * 1 * -0.5f));
}

BOOST_AUTO_TEST_CASE(dc_ssgd_goes_on_without_the_last) {
  Run run("dc-ssgd:lambda=0,backup=1", 3);
  run.driver.arrive(0);  // 1
  run.driver.arrive(2);  // 3
  BOOST_TEST(run.theta() == -1.0f);
  run.driver.arrive(1);  // refused, and given batch 5
  BOOST_TEST(run.theta() == -1.0f);
  BOOST_TEST(run.driver.accepted() == 2);
  run.driver.arrive(1);  // 6
  run.driver.leave(0);
  BOOST_TEST(run.theta() == -2.5f);  // the round waits for one of two
}

// The sum of the steps against one step by the mean at N times the rate: equal but for the order of float sums.
BOOST_AUTO_TEST_CASE(dc_ssgd_without_compensation_is_ssgd_with_linear_scaling) {
  const Logistic task(37);
  std::vector<std::vector<float>> results;
  for (const char* spec : {"dc-ssgd:lambda=0", "ssgd:scale=true", "dc-ssgd:lambda=2"}) {
    const auto rule = test::rule(spec);
    Driver driver(*rule, task.layout(), task.initial(), task.gradient(), changing_rate(0.1));
    for (WorkerId worker = 0; worker < 5; ++worker) driver.join(worker);
    arrive_at_random(driver, 200, 2);
    results.push_back(values_of(driver.theta()));
  }
  double rounding = 0, compensation = 0;
  for (size_t k = 0; k < 37; ++k) {
    rounding = std::max(rounding, std::abs(double{results[0][k]} - double{results[1][k]}));
    compensation = std::max(compensation, std::abs(double{results[2][k]} - double{results[1][k]}));
  }
  BOOST_TEST(rounding < 2e-6);  // 40 rounds, theta near 1
  BOOST_TEST(compensation > 1e-4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
