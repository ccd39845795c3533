// What the operations say to bad input: the operation, what was found, and what was expected.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "framework/autograd/graph.h"
#include "framework/ops/conv.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/join.h"
#include "framework/ops/loss.h"
#include "framework/ops/lstm.h"
#include "framework/ops/matmul.h"
#include "framework/ops/norm.h"
#include "framework/ops/pool.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

namespace {

using namespace tg;

// The call throws Error, and its message starts with the operation's name and has all the parts.
void refused(const std::function<void()>& call, const std::string& op, const std::vector<std::string>& parts) {
  try {
    call();
  } catch (const Error& e) {
    const std::string message = e.what();
    BOOST_TEST(message.rfind(op + ": ", 0) == 0u, message);
    for (const std::string& part : parts)
      BOOST_TEST(message.find(part) != std::string::npos, "no \"" << part << "\" in: " << message);
    return;
  }
  BOOST_ERROR(op << " took bad input without an error");
}

Tensor f32(const Shape& shape) { return Tensor::zeros(shape); }
Tensor f64(const Shape& shape) { return Tensor::zeros(shape, DType::f64); }
Tensor i32(const Shape& shape) { return Tensor::zeros(shape, DType::i32); }

BOOST_AUTO_TEST_SUITE(op_errors)

BOOST_AUTO_TEST_CASE(elementwise) {
  refused([] { add(f32({2, 3}), f32({4})); }, "add", {"[2, 3]", "[4]", "do not broadcast"});
  refused([] { multiply(f32({2, 3}), f64({3})); }, "multiply", {"float32", "float64", "to()"});
  refused([] { divide(f32({2}), i32({2})); }, "divide", {"int32", "to(x, DType::f32)"});
  refused([] { subtract(f32({2}), Tensor::zeros({2}, DType::f32, kPlain)); }, "subtract", {"cpu", "plain"});
  refused([] { exp(i32({5})); }, "exp", {"int32 [5]"});
  refused([] { equal(f32({2}), i32({2})); }, "equal", {"float32", "int32"});
  refused([] { less(f32({2, 3}), f32({3, 2})); }, "less", {"[2, 3]", "[3, 2]"});
  BOOST_CHECK_THROW(add(Tensor(), f32({1})), Error);
}

BOOST_AUTO_TEST_CASE(reductions) {
  refused([] { sum(f32({2, 3}), {2}); }, "sum", {"axis 2", "[2, 3]"});
  refused([] { mean(f32({2, 3}), {-3}); }, "mean", {"axis -3", "[2, 3]"});
  refused([] { max(f32({2, 3}), {1, -1}); }, "max", {"axis -1", "[2, 3]", "twice"});
  refused([] { mean(f32({0, 3})); }, "mean", {"[0, 3]", "no elements"});
  refused([] { max(f32({2, 0}), {1}); }, "max", {"[2, 0]", "no elements"});
  refused([] { argmax(f32({2, 0}), 1); }, "argmax", {"[2, 0]"});
  refused([] { argmax(i32({2}), 0); }, "argmax", {"int32"});
  refused([] { sum(i32({2})); }, "sum", {"int32 [2]"});
}

BOOST_AUTO_TEST_CASE(products) {
  refused(
      [] {
        matmul(f32({2, 3}), f32({4, 5}));
      },
      "matmul", {"[2, 3]", "[4, 5]", "3 columns", "4 rows", "transpose2d"});
  refused([] { matmul(f32({2, 3, 4}), f32({4, 5})); }, "matmul", {"[2, 3, 4]", "[m, k]"});
  refused([] { matmul(f32({2, 3}), f64({3, 5})); }, "matmul", {"float32", "float64"});
  refused([] { linear(f32({2, 3, 4}), f32({5, 12}), Tensor()); }, "linear", {"[2, 3, 4]", "[n, in]", "reshape"});
  refused([] { linear(f32({2, 3}), f32({3, 5}), Tensor()); }, "linear", {"[2, 3]", "[out, 3]", "[3, 5]"});
  refused([] { linear(f32({2, 3}), f32({5, 3}), f32({3})); }, "linear", {"bias", "[5]", "[3]"});
  refused([] { linear(f32({2, 3}), f32({5, 3}), f64({5})); }, "linear", {"bias", "float64"});
}

BOOST_AUTO_TEST_CASE(shapes) {
  refused([] { reshape(f32({2, 3}), {4, 2}); }, "reshape", {"[2, 3]", "6", "[4, 2]", "8"});
  refused([] { reshape(f32({2, 3}), {4, -1}); }, "reshape", {"[2, 3]", "4"});
  refused([] { reshape(f32({2, 3}), {-1, -1}); }, "reshape", {"more than one -1"});
  refused([] { reshape(f32({2, 3}), {-2, 3}); }, "reshape", {"-2"});
  refused([] { reshape(f32({0, 3}), {0, -1}); }, "reshape", {"[0, 3]"});
  refused([] { transpose(f32({2, 3}), {0}); }, "transpose", {"[2, 3]"});
  refused([] { transpose(f32({2, 3}), {0, 0}); }, "transpose", {"axis 0", "twice"});
  refused([] { transpose(f32({2, 3}), {0, 2}); }, "transpose", {"axis 2"});
  refused([] { transpose2d(f32({2})); }, "transpose2d", {"[2]"});
  refused([] { slice(f32({2, 3}), 1, 1, 4); }, "slice", {"[1, 4)", "axis 1", "[2, 3]", "[0, 3)"});
  refused([] { slice(f32({2, 3}), 1, -1, 2); }, "slice", {"[-1, 2)"});
  refused([] { slice(f32({2, 3}), 0, 2, 1); }, "slice", {"[2, 1)"});
  refused([] { slice(f32({2, 3}), 2, 0, 1); }, "slice", {"axis 2"});
  refused([] { to(leaf(f32({2})), DType::i32); }, "to", {"[2]", "int32", "detach"});
}

BOOST_AUTO_TEST_CASE(pictures) {
  const Tensor x = f32({2, 8, 8, 3}), w = f32({4, 3, 3, 3});
  refused([&] { conv2d(f32({8, 8, 3}), w, Tensor()); }, "conv2d", {"[8, 8, 3]", "[N, H, W, C]"});
  refused([&] { conv2d(x, f32({4, 3, 3, 1}), Tensor()); }, "conv2d", {"[2, 8, 8, 3]", "[K, R, S, 3]", "[4, 3, 3, 1]"});
  refused([&] { conv2d(x, w, f32({3})); }, "conv2d", {"bias must be [4]", "[3]"});
  refused([&] { conv2d(x, f32({4, 9, 3, 3}), Tensor()); }, "conv2d", {"9 x 3", "8 x 8"});
  refused([&] { conv2d(x, w, Tensor(), {.stride = 0}); }, "conv2d", {"stride 0"});
  refused([&] { conv2d(x, w, Tensor(), {.padding = -1}); }, "conv2d", {"padding -1"});
  refused([&] { conv2d(x, w, Tensor(), {.padding = INT64_MAX}); }, "conv2d", {"padding"});
  refused([&] { conv2d(x, f64({4, 3, 3, 3}), Tensor()); }, "conv2d", {"weight", "float64"});
  refused([&] { conv2d(f32({0, 8, 8, 3}), w, Tensor()); }, "conv2d", {"[0, 8, 8, 3]"});
  refused([&] { conv2d(f32({2, 8, 8, 0}), f32({4, 3, 3, 0}), Tensor()); }, "conv2d", {"no elements"});
  refused([&] { max_pool2d(f32({8, 8}), {}); }, "max_pool2d", {"[8, 8]", "[N, H, W, C]"});
  refused([&] { max_pool2d(x, {.kernel = 16}); }, "max_pool2d", {"kernel 16", "1 to 15"});
  refused([&] { max_pool2d(x, {.kernel = 9}); }, "max_pool2d", {"kernel of 9", "8 x 8"});
  refused([&] { max_pool2d(x, {.stride = 0}); }, "max_pool2d", {"stride 0"});
  refused([&] { max_pool2d(x, {.kernel = 2, .padding = 2}); }, "max_pool2d", {"padding 2"});
}

BOOST_AUTO_TEST_CASE(losses) {
  const auto labels = [](std::vector<int32_t> v) { return Tensor::from(v, {static_cast<int64_t>(v.size())}); };
  refused([&] { cross_entropy(f32({3, 10}), labels({0, 1})); }, "cross_entropy", {"[3, 10]", "int32 [3]", "[2]"});
  refused([&] { cross_entropy(f32({3, 10}), f32({3})); }, "cross_entropy", {"int32 [3]", "float32 [3]"});
  refused([&] { cross_entropy(f32({3, 10}), labels({0, 10, 1})); }, "cross_entropy", {"label 10", "row 1", "0 to 9"});
  refused([&] { cross_entropy(f32({3, 10}), labels({0, 1, -1})); }, "cross_entropy", {"label -1", "row 2"});
  refused([&] { cross_entropy(f32({0, 10}), labels({})); }, "cross_entropy", {"[0, 10]"});
  refused([&] { cross_entropy(f32({10}), labels({0})); }, "cross_entropy", {"[10]", "[n, classes]"});
  refused([&] { log_softmax(f32({2, 0})); }, "log_softmax", {"[2, 0]"});
}

BOOST_AUTO_TEST_CASE(joins) {
  const auto at = [](std::vector<int32_t> v) { return Tensor::from(v, {static_cast<int64_t>(v.size())}); };
  refused([] { concat({}, 0); }, "concat", {"nothing"});
  refused([] { concat({f32({2, 3}), f32({2, 4})}, 0); }, "concat", {"[2, 3]", "[2, 4]", "axis 0"});
  refused([] { concat({f32({2}), f64({2})}, 0); }, "concat", {"float32", "float64"});
  refused([] { split(f32({5}), 0, {2, 2}); }, "split", {"4", "5"});
  refused([] { split(f32({5}), 0, {2, 4}); }, "split", {"[5]"});
  refused([] { split(f32({5}), 0, {-1, 6}); }, "split", {"[5]"});
  refused([] { pad(f32({5}), 0, -1, 0); }, "pad", {"-1"});
  refused([] { pad(f32({5}), 1, 0, 0); }, "pad", {"axis 1"});
  refused([&] { gather(f32({3, 2}), 0, at({0, 3})); }, "gather", {"index 3", "position 1", "0 to 2"});
  refused([&] { gather(f32({3, 2}), 0, at({-1})); }, "gather", {"index -1"});
  refused([] { gather(f32({3, 2}), 0, f32({1})); }, "gather", {"int32 [n]", "float32"});
  refused([&] { embedding(f32({3}), at({0})); }, "embedding", {"[words, width]"});
}

BOOST_AUTO_TEST_CASE(lstms) {
  const Tensor x = f32({2, 5, 3}), w = f32({8, 3}), u = f32({8, 2}), b = f32({8});
  const auto lengths = [](std::vector<int32_t> v) { return Tensor::from(v, {static_cast<int64_t>(v.size())}); };
  refused([&] { lstm(f32({5, 3}), w, u, b); }, "lstm", {"[5, 3]", "[N, T, I]"});
  refused([&] { lstm(f32({2, 0, 3}), w, u, b); }, "lstm", {"[2, 0, 3]", "at least one"});
  refused([&] { lstm(f32({0, 5, 3}), w, u, b); }, "lstm", {"[0, 5, 3]", "at least one"});
  refused([&] { lstm(i32({2, 5, 3}), w, u, b); }, "lstm", {"int32", "to(x, DType::f32)"});
  refused([&] { lstm(x, f32({8, 4}), u, b); }, "lstm", {"[2, 5, 3]", "[4 H, 3]", "[8, 4]"});
  refused([&] { lstm(x, f32({6, 3}), u, b); }, "lstm", {"[4 H, 3]", "[6, 3]"});
  refused([&] { lstm(x, f32({0, 3}), f32({0, 0}), f32({0})); }, "lstm", {"[4 H, 3]", "[0, 3]"});
  refused([&] { lstm(x, w, f32({2, 8}), b); }, "lstm", {"recurrent_weight must be [8, 2]", "[2, 8]"});
  refused([&] { lstm(x, w, u, f32({2})); }, "lstm", {"bias must be [8]", "[2]"});
  refused([&] { lstm(x, w, f64({8, 2}), b); }, "lstm", {"recurrent_weight", "float64"});
  refused([&] { lstm(x, w, u, b, lengths({5})); }, "lstm", {"int32 [2]", "[1]"});
  refused([&] { lstm(x, w, u, b, f32({2})); }, "lstm", {"int32 [2]", "float32"});
  refused([&] { lstm(x, w, u, b, lengths({5, 6})); }, "lstm", {"length 6", "sequence 1", "1 to 5"});
  refused([&] { lstm(x, w, u, b, lengths({0, 5})); }, "lstm", {"length 0", "sequence 0"});
  refused([&] { lstm(x, w, u, b, lengths({5, -2147483647})); }, "lstm", {"length -2147483647"});
  refused([&] { lstm(x, w, u, b, Tensor::zeros({2}, DType::i32, kPlain)); }, "lstm", {"cpu", "plain"});
}

BOOST_AUTO_TEST_CASE(losses_with_options) {
  const auto labels = [](std::vector<int32_t> v) { return Tensor::from(v, {static_cast<int64_t>(v.size())}); };
  refused([&] { cross_entropy(f32({2, 3}), labels({7, 7}), {.ignore = 7}); }, "cross_entropy", {"all 2 labels", "7"});
  refused([&] { cross_entropy(f32({1, 3}), labels({0}), {.label_smoothing = 1}); }, "cross_entropy", {"smoothing 1"});
  refused([] { mse(f32({2}), f32({3})); }, "mse", {"[2]", "[3]"});
}

BOOST_AUTO_TEST_CASE(normalisations) {
  refused([] { batch_norm(f32({1, 3}), f32({3}), f32({3})); }, "batch_norm", {"[1, 3]", "1 value", "larger batch"});
  refused([] { batch_norm(f32({4, 3}), f32({2}), f32({3})); }, "batch_norm", {"scale must be [3]", "[2]"});
  refused([] { batch_norm(f32({4, 3}), f32({3}), f32({3}), {.epsilon = -1}); }, "batch_norm", {"epsilon -1"});
  refused([] { layer_norm(f32({4, 3}), f32({3}), f32({3}), NAN); }, "layer_norm", {"epsilon nan"});
  refused([] { local_response_norm(f32({4, 3}), {.beta = INFINITY}); }, "local_response_norm", {"beta inf"});
  refused([] { layer_norm(f32({4, 1}), f32({1}), f32({1})); }, "layer_norm", {"[4, 1]"});
  refused([] { local_response_norm(f32({4, 3}), {.size = 0}); }, "local_response_norm", {"size 0"});
  refused([] { avg_pool2d(f32({1, 4, 4, 1}), {.relu = true}); }, "avg_pool2d", {"relu"});
  refused([] { add_relu(f32({2, 3}), f32({3})); }, "add_relu", {"[2, 3]", "[3]", "relu(a + b)"});
  refused(
      [] {
        conv2d(f32({1, 5, 5, 3}), f32({2, 3, 3, 1}), Tensor(), {.groups = 2});
      },
      "conv2d", {"3 channels", "2 groups"});
  refused([] { conv2d(f32({1, 4, 4, 1}), f32({2, 3, 3, 1}), Tensor(), {.dilation = 2}); }, "conv2d", {"dilation 2"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
