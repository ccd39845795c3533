// Dropout's mask: its share of zeros, its scale, and that it goes by the stream and the element alone.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/autograd/graph.h"
#include "framework/ops/dropout.h"

namespace {

using namespace tg;

const Stream kStream = Stream(9).split("mask");

BOOST_AUTO_TEST_SUITE(dropout_mask)

BOOST_AUTO_TEST_CASE(zeros_and_scale) {
  constexpr int64_t n = 100'000;
  for (const double rate : {0.1, 0.5, 0.9}) {
    const auto y = dropout(Tensor::full({n}, 2, DType::f64, kPlain), rate, kStream).values();
    int64_t zeros = 0;
    for (const double v : y) {
      if (v == 0)
        ++zeros;
      else
        BOOST_TEST(v == 2 / (1 - rate), boost::test_tools::tolerance(1e-15));
    }
    // Five standard errors of a binomial share.
    BOOST_TEST(std::abs(static_cast<double>(zeros) / n - rate) < 5 * std::sqrt(rate * (1 - rate) / n));
  }
}

BOOST_AUTO_TEST_CASE(the_mask_is_a_function_of_stream_and_element) {
  const Tensor x = Tensor::full({1000}, 1);
  const auto y = dropout(x, 0.5, kStream).values();
  BOOST_TEST((dropout(x, 0.5, kStream).values() == y));
  BOOST_TEST((dropout(x.to(kPlain), 0.5, kStream).values() == y));
  BOOST_TEST((dropout(x.to(DType::f64), 0.5, kStream).values() == y));
  BOOST_TEST((dropout(x.with_shape({10, 100}), 0.5, kStream).values() == y));
  BOOST_TEST((dropout(x, 0.5, kStream.split("other")).values() != y));
  for (size_t i = 0; i < y.size(); ++i) BOOST_TEST((y[i] != 0) == (kStream.uniform(i) >= 0.5f));
}

BOOST_AUTO_TEST_CASE(the_gradient_has_the_mask_of_the_value) {
  const Tensor x = leaf(Tensor::full({64}, 1));
  const Tensor y = dropout(x, 0.3, kStream);
  BOOST_TEST((gradients(y, {x}, Tensor::full({64}, 1))[0].values() == y.values()));
}

BOOST_AUTO_TEST_CASE(rates) {
  const Tensor x = Tensor::full({4}, 1);
  BOOST_TEST((dropout(x, 0, kStream).values() == x.values()));
  for (const double rate : {-0.1, 1.0, 1.5, std::nan("")}) BOOST_CHECK_THROW(dropout(x, rate, kStream), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
