// Values and derivatives where formulas end: zero, negative numbers, infinities, no number; and what is asked for.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/autograd/graph.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/norm.h"
#include "tests/ops/cases.h"

namespace {

using namespace tg;

constexpr double kInf = INFINITY, kNan = NAN;

bool alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

BOOST_AUTO_TEST_SUITE(edges)

BOOST_AUTO_TEST_CASE(of_functions) {
  struct Point {
    double x, value, derivative;
  };
  struct Row {
    const char* name;
    Tensor (*f)(const Tensor&);
    std::vector<Point> points;
  };
  const Row rows[] = {
      {"relu",
       [](const Tensor& x) { return relu(x); },
       {{0, 0, 0}, {-1, 0, 0}, {2, 2, 1}, {kInf, kInf, 1}, {-kInf, 0, 0}, {kNan, kNan, 0}}},
      {"exp",
       [](const Tensor& x) { return exp(x); },
       {{0, 1, 1}, {1000, kInf, kInf}, {-1000, 0, 0}, {-kInf, 0, 0}, {kNan, kNan, kNan}}},
      {"log",
       [](const Tensor& x) { return log(x); },
       {{1, 0, 1}, {0, -kInf, kInf}, {-2, kNan, -0.5}, {kInf, kInf, 0}, {kNan, kNan, kNan}}},
      {"sqrt",
       [](const Tensor& x) { return sqrt(x); },
       {{4, 2, 0.25}, {0, 0, kInf}, {-1, kNan, kNan}, {kInf, kInf, 0}, {kNan, kNan, kNan}}},
      {"tanh",
       [](const Tensor& x) { return tanh(x); },
       {{0, 0, 1}, {1000, 1, 0}, {-1000, -1, 0}, {kInf, 1, 0}, {-kInf, -1, 0}, {kNan, kNan, kNan}}},
      {"sigmoid",
       [](const Tensor& x) { return sigmoid(x); },
       {{0, 0.5, 0.25}, {1000, 1, 0}, {-1000, 0, 0}, {kInf, 1, 0}, {-kInf, 0, 0}, {kNan, kNan, kNan}}},
      {"pow 2",
       [](const Tensor& x) { return pow(x, 2); },
       {{0, 0, 0}, {-3, 9, -6}, {kInf, kInf, kInf}, {-kInf, kInf, -kInf}, {kNan, kNan, kNan}}},
      {"pow 3", [](const Tensor& x) { return pow(x, 3); }, {{0, 0, 0}, {-2, -8, 12}, {-kInf, -kInf, kInf}}},
      {"pow 1", [](const Tensor& x) { return pow(x, 1); }, {{0, 0, 1}, {-2, -2, 1}, {kInf, kInf, 1}}},
      {"pow 0", [](const Tensor& x) { return pow(x, 0); }, {{0, 1, 0}, {-2, 1, 0}, {kInf, 1, 0}, {kNan, 1, 0}}},
      {"pow -1", [](const Tensor& x) { return pow(x, -1); }, {{0, kInf, -kInf}, {-2, -0.5, -0.25}, {kInf, 0, 0}}},
      {"pow 0.5", [](const Tensor& x) { return pow(x, 0.5); }, {{0, 0, kInf}, {-1, kNan, kNan}, {kInf, kInf, 0}}},
      {"1 / x",
       [](const Tensor& x) { return 1 / x; },
       {{0, kInf, -kInf}, {-2, -0.5, -0.25}, {kInf, 0, 0}, {kNan, kNan, kNan}}},
  };
  for (const Row& row : rows)
    for (const Point& p : row.points)
      for (const DType dtype : {DType::f32, DType::f64})
        for (const Device device : {kPlain, kCpu}) {
          const Tensor x = leaf(Tensor::full({1}, p.x, dtype, device)), y = row.f(x);
          const double value = y.item(), got = gradients(y, {x}, Tensor::full({1}, 1, dtype, device))[0].item();
          BOOST_TEST((alike(value, p.value) && alike(got, p.derivative)),
                     row.name << " at " << p.x << " is " << value << " with derivative " << got << ", should be "
                              << p.value << " and " << p.derivative);
        }
}

// A divisor that is not asked for may be what has no derivative: nothing of it reaches the other gradient.
BOOST_AUTO_TEST_CASE(a_partial_that_nobody_wants_is_not_computed) {
  const Tensor a = leaf(Tensor::from<float>({1, INFINITY}, {2})), b = Tensor::from<float>({-INFINITY, 2}, {2});
  const auto g = gradients(a / b, {a}, Tensor::full({2}, 1))[0].values();
  BOOST_TEST(g == (std::vector<double>{-0.0, 0.5}));
}

// For every operation: each gradient is the same, but for rounding, whether the others are asked for or not (a bias
// alone is a sum, with weights the same kernel gives both).
BOOST_AUTO_TEST_CASE(a_gradient_does_not_depend_on_what_else_is_wanted) {
  for (const auto& c : test::op_cases())
    for (const auto& [dtype, device] : {std::pair(DType::f64, kPlain), std::pair(DType::f32, kCpu)}) {
      const auto all = test::evaluate(c, dtype, device);
      for (size_t wanted = 0; wanted < c.inputs.size(); ++wanted) {
        std::vector<Tensor> inputs;
        for (const auto& input : c.inputs) {
          const Tensor values = test::fixed_tensor(inputs.size(), input, dtype, device);
          inputs.push_back(inputs.size() == wanted ? leaf(values) : values);
        }
        const Tensor value = c.f(inputs);
        const Tensor cotangent = test::fixed_tensor(99, {value.shape(), 0.5, 1.5}, value.dtype(), value.device());
        const auto alone = gradients(value, {inputs[wanted]}, cotangent)[0].values();
        const auto together = all.gradients[wanted].values();
        const double allowed = dtype == DType::f64 ? 1e-13 : 1e-5;
        for (size_t i = 0; i < alone.size(); ++i)
          BOOST_TEST(std::abs(alone[i] - together[i]) <= allowed * std::max(1.0, std::abs(together[i])),
                     c.name << ", input " << wanted << ", element " << i);
      }
    }
}

// A variance is not the difference of two large squares, which near 1000 are known to 0.06: numbers that differ by a
// few thousandths keep their distances. What remains is the rounding of their mean, a twentieth of their deviation.
BOOST_AUTO_TEST_CASE(normalisation_of_large_numbers_that_differ_little) {
  for (const Device device : {kPlain, kCpu}) {
    std::vector<float> values;
    for (int i = 0; i < 64 * 16; ++i) values.push_back(1000.0f + 0x1p-10f * static_cast<float>((i * 37 + i / 16) % 11));
    const Tensor x = Tensor::from(values, {64, 16}, device), ones = Tensor::full({16}, 1, DType::f32, device);
    const Tensor zeros = Tensor::zeros({16}, DType::f32, device);
    const auto exactly = [](const Tensor& t) { return t.to(kPlain).to(DType::f64); };
    const auto check = [&](const char* what, const Tensor& got, const Tensor& exact) {
      const auto g = got.values(), e = exact.values();
      for (size_t i = 0; i < g.size(); ++i)
        BOOST_TEST(std::abs(g[i] - e[i]) < 0.15, what << " " << g[i] << " " << e[i]);
    };
    check("batch_norm", batch_norm(x, ones, zeros, {.epsilon = 1e-12}),
          batch_norm(exactly(x), exactly(ones), exactly(zeros), {.epsilon = 1e-12}));
    check("layer_norm", layer_norm(x, ones, zeros, 1e-12),
          layer_norm(exactly(x), exactly(ones), exactly(zeros), 1e-12));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
