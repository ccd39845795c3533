// Largest stable rates against what is known in closed form.

#include "dist/probe/quadratics.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include "optim/registry.h"

using namespace tg;

namespace {

double largest_stable(const char* spec, int workers) {
  std::vector<double> rates;
  for (double rate = 0.001; rate < 5; rate *= 1.2) rates.push_back(rate);
  const std::unique_ptr<Rule> rule = make_rule(Spec::parse(spec, rule_infos(), "rule"));
  return largest_stable_rate(*rule, workers, rates, growth_factors(*rule, workers, rates));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quadratics)

// w[t+1] = w[t] - a w[t - tau]: stable below a = 2 sin(pi / (4 tau + 2)).
BOOST_AUTO_TEST_CASE(asgd_is_stable_up_to_the_known_rate) {
  for (const int workers : {1, 2, 4, 16}) {
    const double expected = 2 * std::sin(std::numbers::pi / (4 * (workers - 1) + 2));
    BOOST_TEST_CONTEXT(workers << " workers")
    BOOST_TEST(largest_stable("asgd", workers) == expected, boost::test_tools::tolerance(0.01));
  }
}

// Heavy ball: 2 (1 + gamma); Nesterov: 2 (1 + gamma) / (1 + 2 gamma).
BOOST_AUTO_TEST_CASE(momentum_on_one_worker_is_stable_up_to_the_known_rates) {
  BOOST_TEST(largest_stable("multi-asgd:momentum=0.9", 1) == 3.8, boost::test_tools::tolerance(0.01));
  BOOST_TEST(largest_stable("sgd:momentum=0.5,nesterov=true", 1) == 1.5, boost::test_tools::tolerance(0.01));
  BOOST_TEST(largest_stable("dana-zero:momentum=0.5", 1) == 1.5, boost::test_tools::tolerance(0.01));
}

// One worker without momentum multiplies w by 1 - a.
BOOST_AUTO_TEST_CASE(growth_is_the_factor_of_each_gradient) {
  const std::unique_ptr<Rule> rule = make_rule(Spec::parse("asgd", rule_infos(), "rule"));
  const std::vector<double> growth = growth_factors(*rule, 1, {0.001, 0.01, 0.3, 1.9, 2.5});
  const double expected[] = {0.999, 0.99, 0.7, 0.9, 1.5};
  for (size_t i = 0; i < growth.size(); ++i) BOOST_TEST(growth[i] == expected[i], boost::test_tools::tolerance(0.02));
}

// In rounds the gradients are not late: N of them multiply w by 1 - a once.
BOOST_AUTO_TEST_CASE(a_rule_in_rounds_grows_once_a_round) {
  const std::unique_ptr<Rule> rule = make_rule(Spec::parse("ssgd", rule_infos(), "rule"));
  const double growth = growth_factors(*rule, 4, {0.3}).front();
  BOOST_TEST(std::pow(growth, 4) == 0.7, boost::test_tools::tolerance(0.02));
}

// Ten steps of 1 - a on a worker, whose differences are then averaged: no gradient is late.
BOOST_AUTO_TEST_CASE(a_local_loop_grows_at_each_of_its_gradients) {
  const std::unique_ptr<Rule> rule = make_rule(Spec::parse("local-sgd", rule_infos(), "rule"));
  BOOST_TEST(std::pow(growth_factors(*rule, 4, {0.03}).front(), 4) == 0.97, boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(the_more_workers_the_smaller_the_rate_and_dana_bears_more_than_multi_asgd) {
  for (const char* rule : {"asgd", "multi-asgd", "dana-zero"})
    BOOST_TEST(largest_stable(rule, 16) < largest_stable(rule, 4));
  BOOST_TEST(largest_stable("dana-zero", 8) > 2 * largest_stable("multi-asgd", 8));
}

// Their servers differ by the look-ahead alone.
BOOST_AUTO_TEST_CASE(dana_slim_is_stable_where_dana_zero_is) {
  BOOST_TEST(largest_stable("dana-slim", 8) == largest_stable("dana-zero", 8), boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(a_rule_that_grows_at_all_rates_or_at_none_has_no_edge) {
  const std::unique_ptr<Rule> rule = make_rule(Spec::parse("asgd", rule_infos(), "rule"));
  BOOST_TEST(largest_stable_rate(*rule, 1, {3, 4}, {2, 3}) == 0);
  BOOST_TEST(largest_stable_rate(*rule, 1, {0.1, 0.2}, {0.9, 0.8}) == 0.2);
}

BOOST_AUTO_TEST_SUITE_END()
