// Why DC-ASGD may take lambda g g for the curvature: on a model whose labels are drawn from the model itself the mean
// of g g is the mean of the Hessian (the Fisher identity; Zheng et al. 2017 build on it). By the rule's own steps, on
// logistic regression with one weight and one feature.
#include <cmath>

#include "framework/core/random.h"
#include "optim/registry.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

constexpr double kW = 0.7, kX = 1.3;

double chance_of_one(double w) { return 1 / (1 + std::exp(-w * kX)); }
// Of the mean loss where so large a share of the labels is 1.
double gradient(double w, double ones) { return (chance_of_one(w) - ones) * kX; }
// The same of the Hessian, on which labels have no part.
double hessian(double w) { return kX * kX * chance_of_one(w) * (1 - chance_of_one(w)); }

// What a rule makes of a gradient that was taken at kW and arrives at kW + d.
double taken(const std::string& spec, double g, double d) {
  const std::vector<float> at(16, static_cast<float>(kW + d)), sent(16, static_cast<float>(kW)),
      message(16, static_cast<float>(g));
  const auto update = rule(spec)->update(flat_layout(16), view_of(at));
  update->join(0);
  update->apply(0, view_of(message), {.learning_rate = 1, .sent = view_of(sent)});
  return double{at[7]} - double{update->theta()[7]};
}

// The curvature that it believes in.
double curvature(const std::string& spec, double g) { return taken(spec, g, 1) - g; }

BOOST_AUTO_TEST_SUITE(fisher)

constexpr double kRounding = 1e-6;  // float32, of values near 1

BOOST_AUTO_TEST_CASE(the_mean_of_lambda_g_g_is_the_hessian) {
  const double p = chance_of_one(kW);
  const double of_one = curvature("dc-asgd-c:lambda=1", gradient(kW, 1)),
               of_zero = curvature("dc-asgd-c:lambda=1", gradient(kW, 0));
  BOOST_TEST(std::abs(hessian(kW) - 0.3458) < 5e-5);
  BOOST_TEST(std::abs(p * of_one + (1 - p) * of_zero - hessian(kW)) < kRounding);
  // Not for labels from elsewhere.
  BOOST_TEST(std::abs(0.5 * of_one + 0.5 * of_zero - hessian(kW)) > 0.1);
}

BOOST_AUTO_TEST_CASE(with_labels_that_are_drawn) {
  constexpr int kDraws = 400'000;
  const double p = chance_of_one(kW);
  const Stream labels = Stream(5).split("labels");
  int ones = 0;
  for (int i = 0; i < kDraws; ++i) ones += static_cast<double>(labels.uniform(static_cast<uint64_t>(i))) < p;
  const double of_one = curvature("dc-asgd-c:lambda=1", gradient(kW, 1)),
               of_zero = curvature("dc-asgd-c:lambda=1", gradient(kW, 0)), share = 1.0 * ones / kDraws;
  const double deviation = std::abs(of_one - of_zero) * std::sqrt(p * (1 - p) / kDraws);
  BOOST_TEST(std::abs(share * of_one + (1 - share) * of_zero - hessian(kW)) < 5 * deviation);
  BOOST_TEST(deviation < 1e-3);
}

// The square of a mean of b gradients is on average a b-th of it: lambda = b is right then, and lambda = 1 too small.
BOOST_AUTO_TEST_CASE(a_batch_of_b_wants_a_lambda_of_b) {
  constexpr int b = 8;
  const double p = chance_of_one(kW);
  double with_b = 0, with_one = 0, chance = std::pow(1 - p, b);  // of `ones` labels of b that are 1
  for (int ones = 0; ones <= b; ++ones) {
    const double g = gradient(kW, 1.0 * ones / b);
    with_b += chance * curvature("dc-asgd-c:lambda=8", g);
    with_one += chance * curvature("dc-asgd-c:lambda=1", g);
    chance *= p / (1 - p) * (b - ones) / (ones + 1);
  }
  BOOST_TEST(std::abs(with_b - hessian(kW)) < 8 * kRounding);
  BOOST_TEST(std::abs(with_one - hessian(kW) / b) < kRounding);
}

// So the compensated gradient is, on average, right to first order in the distance: half of it leaves a quarter of the
// error, where without compensation a half is left.
BOOST_AUTO_TEST_CASE(what_is_left_is_of_second_order) {
  const double p = chance_of_one(kW);
  const auto error = [&](const std::string& spec, double d) {
    const double mean = p * taken(spec, gradient(kW, 1), d) + (1 - p) * taken(spec, gradient(kW, 0), d);
    return std::abs(mean - gradient(kW + d, p));
  };
  BOOST_TEST(error("asgd", 0.1) / error("asgd", 0.05) == 2, boost::test_tools::tolerance(0.05));
  BOOST_TEST(error("dc-asgd-c:lambda=1", 0.1) / error("dc-asgd-c:lambda=1", 0.05) == 4,
             boost::test_tools::tolerance(0.1));
  BOOST_TEST(error("dc-asgd-c:lambda=1", 0.1) < 0.05 * error("asgd", 0.1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
