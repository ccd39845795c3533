// grad_check must find what is wrong, and say where.
#include <boost/test/unit_test.hpp>

#include "framework/autograd/grad_check.h"
#include "framework/autograd/graph.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

namespace {

using namespace tg;
using Inputs = std::vector<Tensor>;

Tensor numbers(const std::vector<double>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())}, kPlain);
}

// y = x, with a derivative that is wrong by the factors given, one for each element.
const Op kWrong{"wrong", "y = x", "dx = g * factors"};
Tensor wrong(const Tensor& x, const std::vector<double>& factors) {
  Tensor y = x.copy();
  record(y, kWrong, {x}, [factors](Tensor g, GradientSink& sink) { sink.add(0, multiply(g, numbers(factors))); });
  return y;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

void refused(const std::function<void()>& call, const std::vector<std::string>& parts) {
  const std::string message = message_of(call);
  BOOST_TEST(message != "", "no error");
  for (const std::string& part : parts)
    BOOST_TEST(message.find(part) != std::string::npos, "no \"" << part << "\" in: " << message);
}

BOOST_AUTO_TEST_SUITE(grad_checks)

BOOST_AUTO_TEST_CASE(right_derivatives_pass) {
  grad_check("square", [](const Inputs& x) { return x[0] * x[0]; }, {numbers({-1, 0, 2})});
  grad_check("product", [](const Inputs& x) { return matmul(x[0], x[1]); },
             {Tensor::full({2, 3}, 0.5, DType::f64, kPlain), Tensor::full({3, 2}, -2, DType::f64, kPlain)});
  grad_check("large numbers", [](const Inputs& x) { return exp(x[0]); }, {numbers({10, 12})});
  grad_check("wrong, but by the factor 1", [](const Inputs& x) { return wrong(x[0], {1, 1}); }, {numbers({3, 4})});
}

BOOST_AUTO_TEST_CASE(a_wrong_derivative_is_found_and_named) {
  refused(
      [] {
        grad_check("wrong",
                   [](const Inputs& x) {
                     return x[0] + wrong(x[1], {1, 2, 1});
                   },
                   {numbers({1, 1, 1}), numbers({1, 2, 3})});
      },
      {"grad_check of wrong", "input 1 [3]", "element 1", "step 7.63e-06", "may differ by"});
}

BOOST_AUTO_TEST_CASE(a_small_error_is_found) {
  for (const double factor : {1 + 1e-6, 1 - 1e-6, 0.0, -1.0})
    refused(
        [&] {
          grad_check("wrong", [&](const Inputs& x) { return wrong(x[0], {1, factor}); }, {numbers({1, 2})});
        },
        {"element 1"});
}

BOOST_AUTO_TEST_CASE(a_forgotten_path_is_found) {
  refused(
      [] {
        grad_check("half", [](const Inputs& x) { return x[0] * x[0].detach(); }, {numbers({2, 3})});
      },
      {"input 0 [2], element 0"});
  // Errors that a cotangent of ones would hide: the gradient of each row sums to zero.
  const auto rows = [](const Inputs& x) { return wrong(x[0] - mean(x[0], {0}, {.keep_dims = true}), {1, 2, 3}); };
  refused([&] { grad_check("hidden", rows, {numbers({1, 2, 4})}); }, {"grad_check of hidden"});
}

BOOST_AUTO_TEST_CASE(a_gradient_of_another_shape_is_found) {
  const auto f = [](const Inputs& x) {
    Tensor y = x[0].copy();
    record(y, kWrong, {x[0]}, [](Tensor g, GradientSink& sink) { sink.add(0, sum(g)); });
    return y;
  };
  refused([&] { grad_check("shape", f, {numbers({1, 2})}); }, {"wrong: ", "input 0", "[]", "[2]"});
}

BOOST_AUTO_TEST_CASE(parameters_are_checked_where_they_are) {
  const Tensor weight = leaf(Tensor::from<double>({1, 2, 3, 4, 5, 6}, {2, 3}, kPlain));
  const Tensor scale = leaf(Tensor::from<double>({0.1}, {}, kPlain));
  const auto layer = [&](const Inputs& x) { return linear(x[0], weight, Tensor()) * scale; };
  grad_check("layer", layer, {Tensor::full({4, 3}, 0.3, DType::f64, kPlain), weight, scale});
  BOOST_TEST(weight.values() == (std::vector<double>{1, 2, 3, 4, 5, 6}));
  BOOST_TEST(scale.item() == 0.1);
  // One whose gradient is wrong is found by its place in the list.
  const auto broken = [&](const Inputs& x) { return linear(x[0], weight.detach(), Tensor()) * scale; };
  refused([&] { grad_check("layer", broken, {Tensor::full({1, 3}, 0.3, DType::f64, kPlain), weight}); }, {"input 1"});
}

BOOST_AUTO_TEST_CASE(bad_requests) {
  const auto same = [](const Inputs& x) { return x[0] * 1; };
  refused([&] { grad_check("f", same, {Tensor::zeros({2})}); }, {"input 0", "float32", "plain"});
  refused([&] { grad_check("f", same, {transpose2d(Tensor::zeros({2, 3}, DType::f64, kPlain))}); }, {"contiguous"});
  refused([&] { grad_check("f", [](const Inputs& x) { return x[0].detach(); }, {numbers({1})}); },
          {"none of the inputs"});
  refused([&] { grad_check("f", [](const Inputs& x) { return log(x[0]); }, {numbers({-1})}); }, {"element 0", "nan"});
  refused([&] { grad_check("f", [](const Inputs& x) { return to(x[0], DType::f32); }, {numbers({1})}); }, {"float32"});
  refused([&] { grad_check("f", same, {numbers({1})}, {.step = 0}); }, {"step 0"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
