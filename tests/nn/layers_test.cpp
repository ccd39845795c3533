// Every layer's derivatives, for its input and each of its parameters, in float64: alone and between two linear layers.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/autograd/grad_check.h"
#include "framework/nn/conv_norm.h"
#include "framework/nn/dropout.h"
#include "framework/nn/embedding.h"
#include "framework/nn/linear.h"
#include "framework/nn/lstm.h"
#include "framework/nn/norm.h"
#include "framework/nn/shape_layers.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/shape.h"

using namespace tg;

namespace {

Tensor random(const Shape& shape, const char* name) {
  const Stream stream = Stream(42).split(name);
  std::vector<double> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(stream.normal(i));
  return Tensor::from(values, shape, kPlain);
}

// Gives every parameter a random float64 leaf and collects them.
class RandomLeaves final : public Visitor {
 public:
  std::vector<Tensor> leaves;

 private:
  void visit_parameter(const std::string& path, Parameter& parameter) override {
    parameter.value = leaf(random(parameter.shape, path.c_str()));
    leaves.push_back(parameter.value);
  }
};

template <class Layer>
void check_layer(const std::string& name, Layer layer, const Shape& input) {
  RandomLeaves visitor;
  visitor("layer", layer);
  std::vector<Tensor> inputs{random(input, "x")};
  inputs.insert(inputs.end(), visitor.leaves.begin(), visitor.leaves.end());
  BOOST_TEST_CONTEXT(name) {
    BOOST_CHECK_NO_THROW(grad_check(
        name, [&](const std::vector<Tensor>& in) { return layer(in[0], {}); }, inputs));
  }
}

// The layer with a linear layer before it, whose output is reshaped to `input`, and one after it.
template <class Layer>
struct Between {
  Between(Layer l, const Shape& in, int64_t out)
      : input(in), before({.in = 3, .out = in.count() / in[0]}), layer(l), after({.in = out, .out = 2}) {}
  Tensor operator()(const Tensor& x, const Context& context) const {
    const Tensor h = layer(reshape(before(x, context), input), context);
    return after(reshape(h, {input[0], -1}), context);
  }
  void visit(Visitor& v) {
    v("before", before);
    v("layer", layer);
    v("after", after);
  }
  Shape input;
  Linear before;
  Layer layer;
  Linear after;
};

template <class Layer>
void check_everywhere(const std::string& name, const Layer& layer, const Shape& input, int64_t features) {
  check_layer(name, layer, input);
  check_layer(name + " between linear layers", Between<Layer>(layer, input, features), {input[0], 3});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers)

BOOST_AUTO_TEST_CASE(linear) {
  for (bool relu : {false, true})
    for (int64_t n : {1, 4}) check_everywhere("linear", Linear({.in = 5, .out = 3, .relu = relu}), {n, 5}, 3);
}

BOOST_AUTO_TEST_CASE(conv2d) {
  for (bool relu : {false, true}) {
    check_everywhere("conv2d", Conv2d({.in = 2, .out = 3, .kernel = 3, .relu = relu}), {2, 5, 4, 2}, 3 * 2 * 3);
    check_everywhere("conv2d strided",
                     Conv2d({.in = 1, .out = 2, .kernel = 2, .stride = 2, .padding = 1, .relu = relu}), {2, 4, 5, 1},
                     3 * 3 * 2);
  }
}

BOOST_AUTO_TEST_CASE(max_pool2d) {
  for (bool relu : {false, true}) {
    check_everywhere("max_pool2d", MaxPool2d({.kernel = 2, .relu = relu}), {2, 5, 4, 3}, 2 * 2 * 3);
    check_everywhere("max_pool2d overlapping", MaxPool2d({.kernel = 3, .stride = 1, .padding = 1, .relu = relu}),
                     {1, 3, 4, 2}, 3 * 4 * 2);
  }
}

BOOST_AUTO_TEST_CASE(averaging_pools) {
  check_everywhere("avg_pool2d", AvgPool2d({.kernel = 2}), {2, 5, 4, 3}, 2 * 2 * 3);
  check_everywhere("avg_pool2d overlapping", AvgPool2d({.kernel = 3, .stride = 1, .padding = 1}), {1, 3, 4, 2},
                   3 * 4 * 2);
}

BOOST_AUTO_TEST_CASE(embedding) {
  Embedding words({.words = 4, .width = 3});
  RandomLeaves visitor;
  visitor("words", words);
  const Tensor ids = Tensor::from<int32_t>({3, 0, 3, 1}, {2, 2}, kPlain);
  BOOST_CHECK_NO_THROW(grad_check(
      "embedding", [&](const std::vector<Tensor>&) { return words(ids, {}); }, visitor.leaves));
  BOOST_TEST(words(ids, {}).shape() == (Shape{2, 2, 3}));
  BOOST_CHECK_EXCEPTION(words(random({2}, "x"), {}), Error,
                        [](const Error& e) { return std::string(e.what()).find("words: Embedding takes int32") == 0; });
  BOOST_CHECK_THROW(words(Tensor::from<int32_t>({4}, {1}, kPlain), {}), Error);
}

BOOST_AUTO_TEST_CASE(conv2d_with_groups_dilation_and_no_bias) {
  check_everywhere("grouped", Conv2d({.in = 4, .out = 2, .kernel = 2, .groups = 2}), {2, 3, 3, 4}, 2 * 2 * 2);
  check_everywhere("dilated", Conv2d({.in = 1, .out = 2, .kernel = 2, .padding = 1, .dilation = 2, .bias = false}),
                   {1, 3, 4, 1}, 3 * 4 * 2);
  BOOST_CHECK_THROW(Conv2d({.in = 3, .out = 4, .kernel = 1, .groups = 2}), Error);
}

BOOST_AUTO_TEST_CASE(normalisations) {
  for (bool relu : {false, true}) {
    check_everywhere("batch norm", BatchNorm({.channels = 3, .relu = relu}), {4, 3}, 3);
    check_everywhere("batch norm of pictures", BatchNorm({.channels = 2, .relu = relu}), {2, 3, 2, 2}, 12);
  }
  check_everywhere("convolution and batch norm", ConvNorm({.in = 2, .out = 3, .kernel = 3, .stride = 2}), {2, 5, 4, 2},
                   3 * 2 * 3);
  check_everywhere("layer norm", LayerNorm({.channels = 5}), {3, 5}, 5);
  check_everywhere("local response norm", LocalResponseNorm{{.size = 3, .alpha = 0.5}}, {2, 2, 2, 4}, 16);
}

// In evaluation the statistics are constants, which makes another derivative.
BOOST_AUTO_TEST_CASE(batch_norm_in_evaluation) {
  for (bool relu : {false, true}) {
    BatchNorm norm({.channels = 3, .relu = relu});
    RandomLeaves visitor;
    norm.visit(visitor);
    norm.mean.value = random({3}, "mean");
    norm.variance.value = Tensor::from<double>({0.5, 2, 1}, {3}, kPlain);
    std::vector<Tensor> inputs{random({4, 3}, "x"), visitor.leaves[0], visitor.leaves[1]};
    BOOST_CHECK_NO_THROW(grad_check(
        "batch norm, evaluation", [&](const std::vector<Tensor>& in) { return norm(in[0], {.training = false}); },
        inputs));
  }
}

BOOST_AUTO_TEST_CASE(lstm) {
  check_everywhere("lstm", Lstm({.in = 3, .hidden = 2}), {2, 4, 3}, 4 * 2);
  check_everywhere("lstm, one step", Lstm({.in = 1, .hidden = 3}), {1, 1, 1}, 3);
}

BOOST_AUTO_TEST_CASE(rows) { check_everywhere("rows", Rows{}, {2, 3, 2, 2}, 12); }

BOOST_AUTO_TEST_CASE(flatten) { check_everywhere("flatten", Flatten{}, {2, 3, 2, 2}, 12); }

BOOST_AUTO_TEST_CASE(dropout) {
  check_everywhere("dropout", Dropout({.rate = 0.4}), {3, 5}, 5);
  for (const double rate : {-0.5, 1.0, std::nan("")}) BOOST_CHECK_THROW(Dropout({.rate = rate}), Error);
}

// By the pass's stream and the layer's path, and only in training.
BOOST_AUTO_TEST_CASE(what_dropout_drops) {
  Dropout first({.rate = 0.5}), second = first;
  const Tensor x = random({64}, "x");
  BOOST_CHECK_THROW(first(x, {}), Error);  // no path yet
  RandomLeaves visitor;
  visitor("first", first);
  visitor("second", second);
  const auto values = [&](const Dropout& layer, uint64_t seed, bool training = true) {
    return layer(x, {.training = training, .stream = Stream(seed)}).values();
  };
  BOOST_TEST((values(first, 1) == values(first, 1)));
  BOOST_TEST((values(first, 1) != values(second, 1)));
  BOOST_TEST((values(first, 1) != values(first, 2)));
  BOOST_TEST((values(first, 1) != x.values()));
  BOOST_TEST((values(first, 1, false) == x.values()));
  BOOST_TEST((values(Dropout({.rate = 0}), 1) == x.values()));
}

// Relu after pooling is relu before it: the same values and the same gradients.
BOOST_AUTO_TEST_CASE(relu_commutes_with_max_pooling) {
  const Tensor values = random({2, 6, 6, 3}, "x");
  const auto gradient_of = [&](auto&& f) {
    const Tensor x = leaf(values);
    const Tensor y = f(x);
    return std::pair(y.values(), gradients(y, {x}, random(y.shape(), "cotangent"))[0].values());
  };
  const Context context;
  const auto after = gradient_of([&](const Tensor& x) { return MaxPool2d({.kernel = 2, .relu = true})(x, context); });
  const auto before = gradient_of([&](const Tensor& x) { return MaxPool2d({.kernel = 2})(relu(x), context); });
  BOOST_TEST((after == before));
}

BOOST_AUTO_TEST_SUITE_END()
