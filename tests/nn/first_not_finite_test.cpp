// Which layer or operation first gives a number that is not finite.

#include "framework/nn/first_not_finite.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/nn/linear.h"
#include "framework/nn/models/models.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/loss.h"

using namespace tg;

namespace {

struct Exponential {
  Linear first{{.in = 3, .out = 4}}, second{{.in = 4, .out = 2}};
  Tensor operator()(const Tensor& x, const Context& context) const { return second(exp(first(x, context)), context); }
  void visit(Visitor& v) {
    v("first", first);
    v("second", second);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(first_not_finite_suite)

BOOST_AUTO_TEST_CASE(is_named) {
  Model model{Exponential{}};
  model.bind_new(1);
  Tensor flat = model.parameters().flat;
  const auto at = [&](const char* name) { return flat.data<float>() + model.layout().find(name).offset; };
  const auto said = [&](const Tensor& x) {
    return first_not_finite(model.parameters(),
                            [&] { cross_entropy(model(x, {}), Tensor::zeros({x.dim(0)}, DType::i32)); });
  };
  const Tensor x = Tensor::full({5, 3}, 1);
  BOOST_TEST(said(x) == "");

  at("first.bias")[2] = 100;  // e^100 is no float
  BOOST_TEST(said(x) == "exp [5, 4], after first");

  at("first.bias")[2] = 0;
  at("second.weight")[0] = 3e38f;
  at("second.weight")[1] = 3e38f;
  at("first.weight")[0] = at("first.weight")[1] = 5;
  BOOST_TEST(said(x) == "linear [5, 2] of second");

  Tensor bad = x.copy();
  bad.data<float>()[7] = NAN;
  BOOST_TEST(said(bad) == "linear [5, 4] of first");

  at("second.bias")[1] = -INFINITY;
  BOOST_TEST(said(x) == "the parameter second.bias");
}

// In a view, in float64, and where nothing is recorded.
BOOST_AUTO_TEST_CASE(is_found_everywhere) {
  const Parameters none;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const NoGrad no_grad;
    const Tensor x = Tensor::from<float>({1, 0, -1}, {3, 1}).to(dtype);
    BOOST_TEST(first_not_finite(none, [&] { log(x + 2); }) == "");
    BOOST_TEST(first_not_finite(none, [&] { log(x * 2); }) == "log [3, 1]");
    BOOST_TEST(first_not_finite(none, [&] { exp(1 / x); }) == "divide_number [3, 1]");
  }
  BOOST_CHECK_THROW(first_not_finite(none, [] { fail("an error of the computation"); }), Error);
}

BOOST_AUTO_TEST_SUITE_END()
