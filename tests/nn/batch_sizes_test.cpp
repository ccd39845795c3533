// Every layer with batches of two sizes in turn: nothing of one batch stays for the next.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/nn/conv_norm.h"
#include "framework/nn/dropout.h"
#include "framework/nn/linear.h"
#include "framework/nn/lstm.h"
#include "framework/nn/model.h"
#include "framework/nn/norm.h"
#include "framework/nn/shape_layers.h"

using namespace tg;

namespace {

Tensor random(Shape shape, const char* name) {
  Tensor t = Tensor::empty(shape);
  const Stream stream = Stream(42).split(name);
  for (int64_t i = 0; i < t.count(); ++i) t.data<float>()[i] = stream.normal(static_cast<uint64_t>(i));
  return t;
}

struct Result {
  std::vector<double> value, dx, dparameters;
  bool operator==(const Result&) const = default;
};

// What the layer makes of the first n of five samples.
Result result_of(const Model& model, const Shape& sample, int64_t n, bool training) {
  Shape all{5};
  for (int i = 0; i < sample.rank(); ++i) all.push_back(sample[i]);
  const Tensor samples = random(all, "x");
  const Tensor x = leaf(samples.as_strided(all.with(0, n), samples.strides(), 0).copy());
  const Tensor y = model(x, {.training = training, .stream = Stream(3)});
  std::vector<Tensor> leaves{x};
  for (const Tensor& parameter : model.parameters().leaves) leaves.push_back(parameter);
  const auto g = gradients(y, leaves, random(y.shape(), "g"));
  Result result{y.values(), g[0].values(), {}};
  for (size_t i = 1; i < g.size(); ++i)
    for (const double v : g[i].values()) result.dparameters.push_back(v);
  return result;
}

template <class Layer>
void check(const std::string& name, Layer layer, const Shape& sample) {
  struct Holder {  // so that the layer has a path
    Layer part;
    Tensor operator()(const Tensor& x, const Context& context) const { return part(x, context); }
    void visit(Visitor& v) { v("part", part); }
  };
  Model model{Holder{std::move(layer)}};
  model.bind_new(1);
  for (const bool training : {true, false}) BOOST_TEST_CONTEXT(name << (training ? ", training" : ", evaluation")) {
      const Result five = result_of(model, sample, 5, training), two = result_of(model, sample, 2, training);
      BOOST_TEST((result_of(model, sample, 5, training) == five));
      BOOST_TEST((result_of(model, sample, 2, training) == two));
      if (training && name.starts_with("batch norm")) continue;
      // All others treat each sample as if it were alone.
      BOOST_TEST_REQUIRE(two.value.size() * 5 == five.value.size() * 2);
      for (size_t i = 0; i < two.value.size(); ++i) BOOST_TEST(std::abs(two.value[i] - five.value[i]) < 1e-5);
      for (size_t i = 0; i < two.dx.size(); ++i) BOOST_TEST(std::abs(two.dx[i] - five.dx[i]) < 1e-5);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_sizes)

BOOST_AUTO_TEST_CASE(of_every_layer) {
  for (const bool relu : {false, true}) {
    check("linear", Linear({.in = 6, .out = 4, .relu = relu}), {6});
    check("conv2d", Conv2d({.in = 3, .out = 8, .kernel = 3, .stride = 2, .padding = 1, .relu = relu}), {9, 8, 3});
    check("grouped conv2d", Conv2d({.in = 8, .out = 16, .kernel = 3, .groups = 2, .relu = relu}), {5, 6, 8});
    check("batch norm after conv2d", ConvNorm({.in = 3, .out = 8, .kernel = 3, .relu = relu}), {5, 4, 3});
    check("batch norm", BatchNorm({.channels = 8, .relu = relu}), {5, 4, 8});
    check("max_pool2d", MaxPool2d({.kernel = 3, .stride = 2, .padding = 1, .relu = relu}), {7, 8, 16});
  }
  check("avg_pool2d", AvgPool2d({.kernel = 3, .stride = 2}), {7, 8, 16});
  check("layer norm", LayerNorm({.channels = 20}), {20});
  check("local response norm", LocalResponseNorm{}, {3, 3, 20});
  check("dropout", Dropout({.rate = 0.5}), {9});
  check("lstm", Lstm({.in = 3, .hidden = 8}), {7, 3});
  check("rows", Rows{}, {3, 4, 2});
  check("flatten", Flatten{}, {3, 4, 2});
}

BOOST_AUTO_TEST_SUITE_END()
