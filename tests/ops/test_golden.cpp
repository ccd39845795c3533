// Values and gradients against PyTorch's (make_golden.py), of every operation and of two training steps of lenet.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/autograd/graph.h"
#include "framework/ops/conv.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pool.h"
#include "framework/ops/shape.h"
#include "tests/ops/cases.h"

namespace {

using namespace tg;
using nlohmann::json;

struct Way {
  DType dtype;
  Device device;
  double tolerance;  // relative to 1 or the number, for sums of a few hundred terms
  std::string name() const { return std::string(name_of(dtype)) + " on " + name_of(device); }
};
const Way kWays[] = {{DType::f64, kPlain, 1e-12}, {DType::f32, kPlain, 1e-5}, {DType::f32, kCpu, 1e-5}};

json read_golden(const std::string& file) {
  const char* root = std::getenv("TARDYGRAD_SOURCE_ROOT");
  BOOST_REQUIRE_MESSAGE(root != nullptr, "TARDYGRAD_SOURCE_ROOT is not set; run by meson test");
  std::ifstream in(std::string(root) + "/tests/ops/golden/" + file);
  BOOST_REQUIRE_MESSAGE(in, "no " << file);
  return json::parse(in);
}

void check(const Tensor& got, const json& golden, double tolerance, const std::string& what) {
  BOOST_REQUIRE_MESSAGE(got.shape() == Shape(golden["shape"].get<std::vector<int64_t>>()),
                        what << " has shape " << got.shape().str());
  const auto numbers = golden["numbers"].get<std::vector<double>>(), g = got.values();
  for (size_t i = 0; i < g.size(); ++i)
    BOOST_TEST(std::abs(g[i] - numbers[i]) <= tolerance * std::max(1.0, std::abs(numbers[i])),
               what << ": element " << i << " is " << g[i] << ", should be " << numbers[i]);
}

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(every_operation) {
  std::set<std::string> covered, all;
  const json file = read_golden("ops.json");
  for (const json& golden : file["cases"]) {
    const auto name = golden["name"].get<std::string>();
    const auto& cases = test::op_cases();
    const auto c = std::find_if(cases.begin(), cases.end(), [&](const auto& one) { return one.name == name; });
    BOOST_REQUIRE_MESSAGE(c != cases.end(), "no case " << name);
    covered.insert(c->op());
    for (const Way& way : kWays) {
      const auto got = test::evaluate(*c, way.dtype, way.device);
      check(got.value, golden["value"], way.tolerance, name + ", value, " + way.name());
      BOOST_REQUIRE(got.gradients.size() == golden["gradients"].size());
      for (size_t i = 0; i < got.gradients.size(); ++i)
        check(got.gradients[i], golden["gradients"][i], way.tolerance,
              fmt::format("{}, gradient {}, {}", name, i, way.name()));
    }
  }
  for (const Op* op : all_ops()) all.insert(op->name());
  all.erase("dropout");  // PyTorch draws other numbers; test_dropout.cpp
  BOOST_TEST(covered == all, boost::test_tools::per_element());
}

// The batch's loss under weights in make_golden.py's order.
Tensor lenet_loss(const Tensor& x, const Tensor& labels, const std::vector<Tensor>& w) {
  Tensor h = max_pool2d(conv2d(x, w[0], w[1], {.relu = true}));
  h = max_pool2d(conv2d(h, w[2], w[3], {.relu = true}));
  h = linear(reshape(h, {4, -1}), w[4], w[5], true);
  return cross_entropy(linear(h, w[6], w[7]), labels);
}

// Fixed weights, uniform with He's variance; small fixed biases.
std::vector<Tensor> lenet_weights(const json& golden, const Way& way) {
  std::vector<Tensor> weights;
  for (const json& parameter : golden) {
    const Shape shape(parameter["shape"].get<std::vector<int64_t>>());
    const bool is_bias = shape.rank() == 1;
    const double bound = is_bias ? 0.1 : std::sqrt(6 / static_cast<double>(shape.count() / shape[0]));
    weights.push_back(test::fixed_tensor(weights.size(), {shape, -bound, bound}, way.dtype, way.device));
  }
  return weights;
}

BOOST_AUTO_TEST_CASE(two_steps_of_lenet) {
  const json steps = read_golden("lenet.json")["steps"];
  for (const Way& way : kWays) {
    const Tensor x = test::fixed_tensor(99, {{4, 28, 28, 1}, 0, 1}, way.dtype, way.device);
    const Tensor labels = Tensor::from<int32_t>({3, 0, 7, 9}, {4}, way.device);
    std::vector<Tensor> weights = lenet_weights(steps[0]["gradients"], way);
    for (const json& golden : steps) {
      std::vector<Tensor> leaves;
      for (const Tensor& w : weights) leaves.push_back(leaf(w));
      const Tensor loss = lenet_loss(x, labels, leaves);
      BOOST_TEST_CONTEXT(way.name()) {
        BOOST_TEST(loss.item() == golden["loss"].get<double>(), boost::test_tools::tolerance(way.tolerance));
        const auto g = gradients(loss, leaves, Tensor::full({}, 1, way.dtype, way.device));
        for (size_t i = 0; i < g.size(); ++i) {
          const json& expected = golden["gradients"][i];
          const auto values = g[i].values();
          double squares = 0;
          for (const double v : values) squares += v * v;
          const auto norm = expected["norm"].get<double>();
          BOOST_TEST_CONTEXT(expected["name"].get<std::string>()) {
            BOOST_TEST(std::sqrt(squares) == norm, boost::test_tools::tolerance(way.tolerance));
            // An element is a sum that may cancel: it is held to the size of the others.
            const double usual = norm / std::sqrt(static_cast<double>(values.size()));
            const auto first = expected["first"].get<std::vector<double>>();
            for (size_t k = 0; k < first.size(); ++k)
              BOOST_TEST(std::abs(values[k] - first[k]) <= 4 * way.tolerance * (usual + std::abs(first[k])),
                         "element " << k << " is " << values[k] << ", should be " << first[k]);
          }
          weights[i] = weights[i] - 0.1 * g[i];
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
