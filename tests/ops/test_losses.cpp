// Cross-entropy and log-softmax where a naive formula overflows.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/autograd/graph.h"
#include "framework/ops/loss.h"

namespace {

using namespace tg;

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(logits_of_a_thousand) {
  for (const Device device : {kPlain, kCpu}) {
    const Tensor logits = leaf(Tensor::from<float>({1000, -1000, 0, 1000, 1000, -1000}, {2, 3}, device));
    const Tensor labels = Tensor::from<int32_t>({1, 0}, {2}, device);
    const Tensor loss = cross_entropy(logits, labels);
    BOOST_TEST(loss.item() == (2000 + std::log(2.0)) / 2, boost::test_tools::tolerance(1e-6));
    const auto g = gradients(loss, {logits}, Tensor::full({}, 1, DType::f32, device))[0].values();
    const std::vector<double> expected{0.5, -0.5, 0, -0.25, 0.25, 0};
    BOOST_TEST(g == expected, boost::test_tools::tolerance(1e-6) << boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_certain_right_answer_costs_nothing) {
  for (const Device device : {kPlain, kCpu}) {
    const Tensor logits = leaf(Tensor::from<float>({1000, -1000, -1000}, {1, 3}, device));
    const Tensor loss = cross_entropy(logits, Tensor::from<int32_t>({0}, {1}, device));
    BOOST_TEST(loss.item() == 0);
    for (const double g : gradients(loss, {logits}, Tensor::full({}, 1, DType::f32, device))[0].values())
      BOOST_TEST(g == 0);
  }
}

BOOST_AUTO_TEST_CASE(log_softmax_of_large_numbers) {
  for (const Device device : {kPlain, kCpu}) {
    const auto y = log_softmax(Tensor::from<float>({1000, 1000, -1000, -1000}, {2, 2}, device)).values();
    for (const double v : y) BOOST_TEST(v == -std::log(2.0), boost::test_tools::tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(rows_of_log_softmax_are_distributions) {
  const Tensor x = Tensor::from<double>({1, -2, 0.5, 3, 700, -700}, {2, 3}, kPlain);
  const auto y = log_softmax(x).values();
  for (size_t row = 0; row < 2; ++row)
    BOOST_TEST(std::exp(y[3 * row]) + std::exp(y[3 * row + 1]) + std::exp(y[3 * row + 2]) == 1,
               boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
