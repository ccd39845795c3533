// Tensors on meta: the shapes, the arithmetic and the memory of a computation without its numbers.

#include <boost/test/unit_test.hpp>

#include "framework/autograd/graph.h"
#include "framework/core/meta.h"
#include "framework/core/pool.h"
#include "framework/core/reduce.h"
#include "framework/ops/conv.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/join.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/norm.h"
#include "framework/ops/pool.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

using namespace tg;

namespace {

Tensor on(Device device, const Shape& shape) { return Tensor::full(shape, 0.5, DType::f32, device); }

struct Identity {
  TG_HD float operator()(float x) const { return x; }
};

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// FLOPs counted on this thread during a call.
double flops_of(const auto& f) {
  const double before = meta::tally().flops;
  f();
  return meta::tally().flops - before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(meta_device)

BOOST_AUTO_TEST_CASE(products_are_counted_forward_and_backward) {
  const Tensor x = on(kMeta, {8, 12, 12, 6}), w = leaf(on(kMeta, {4, 3, 3, 3})), v = leaf(on(kMeta, {5, 36}));
  Tensor h, y;
  const double conv = 2.0 * (8 * 6 * 6 * 4) * (3 * 3 * 3), product = 2.0 * (8 * 5) * 36;
  BOOST_TEST(flops_of([&] { h = conv2d(x, w, {}, {.stride = 2, .padding = 1, .groups = 2, .relu = true}); }) == conv);
  BOOST_TEST(h.shape() == (Shape{8, 6, 6, 4}));
  BOOST_TEST((h.device() == kMeta));
  BOOST_TEST(flops_of([&] { h = max_pool2d(h, {}); }) == 0);
  BOOST_TEST(flops_of([&] { y = linear(reshape(h, {8, 36}), v, {}); }) == product);
  // No gradient goes to x, so its half of the convolution's derivative is not computed.
  std::vector<Tensor> g;
  BOOST_TEST(flops_of([&] { g = gradients(sum(y), {w, v}, on(kMeta, {})); }) == conv + 2 * product);
  BOOST_TEST(g[0].shape() == w.shape());
  BOOST_TEST((g[1].device() == kMeta));
}

// Every kind of allocation and release in a step, on both devices.
BOOST_AUTO_TEST_CASE(memory_is_what_the_pool_would_give) {
  const auto step = [](Device device) {
    const Tensor x = on(device, {16, 8, 8, 5});
    const Tensor w = leaf(on(device, {32, 3, 3, 5})), scale = leaf(on(device, {32})), v = leaf(on(device, {7, 32}));
    const auto block = [&](const Tensor& h) {
      return batch_norm(conv2d(h, w, {}, {.padding = 1}), scale, scale, {.relu = true});
    };
    const Tensor h = add_relu(block(x), block(exp(x)));
    const Tensor joined = concat({h, h * 2.0, slice(h, 3, 0, 5)}, 3);
    const Tensor loss = sum(log_softmax(linear(mean(slice(joined, 3, 3, 35), {1, 2}), v, {})));
    gradients(loss, {w, scale, v}, Tensor::full({}, 1, DType::f32, device));
  };
  step(kCpu);  // what is made once
  pool::reset_peak();
  const int64_t real_before = pool::stats().live;
  step(kCpu);
  const int64_t real = pool::stats().live_peak - real_before;
  meta::Tally& tally = meta::tally();
  const int64_t before = tally.live_peak = tally.live;
  step(kMeta);
  BOOST_TEST(pool::stats().live == real_before);
  BOOST_TEST(tally.live == before);
  BOOST_TEST(tally.live_peak - before == real);
}

BOOST_AUTO_TEST_CASE(numbers_are_refused) {
  const Tensor t = on(kMeta, {2, 3});
  Tensor host = Tensor::zeros({2, 3}), writable = t;
  const Tensor labels = Tensor::zeros({2}, DType::i32, kMeta);
  for (const std::string& message : {
           message_of([&] { sum(t).item(); }),
           message_of([&] { t.values(); }),
           message_of([&] { t.data<float>(); }),
           message_of([&] { writable.data<float>(); }),
           message_of([&] { t.raw(); }),
           message_of([&] { t.to(kCpu); }),
           message_of([&] { host.to(kMeta); }),
           message_of([&] { host.copy_from(t); }),
           message_of([&] {
             Tensor::from<float>({1, 2}, {2}, kMeta);
           }),
           message_of([&] { reduce_sum(Identity{}, t.view()); }),
           message_of([&] { cross_entropy(t, labels); }),
       })
    BOOST_TEST(message.find("no numbers") != std::string::npos, message);
  BOOST_TEST(t.str() == "float32 [2, 3] meta\n");
  BOOST_CHECK_THROW(add(t, host), Error);
  BOOST_CHECK_THROW(matmul(host, transpose2d(t)), Error);
  BOOST_CHECK_THROW(t.data<double>(), Error);
}

BOOST_AUTO_TEST_CASE(memory_that_no_machine_has) {
  const Tensor a = leaf(on(kMeta, {1 << 24, 1 << 20}));
  const auto g = gradients(relu(a) * 2.0, {a}, on(kMeta, a.shape()));
  BOOST_TEST(g[0].shape() == a.shape());
  BOOST_CHECK_THROW(on(kMeta, {1 << 30, 1 << 30}), Error);
}

BOOST_AUTO_TEST_CASE(operations_are_watched) {
  std::vector<std::string> seen, inner;
  const auto into = [](std::vector<std::string>& list) {
    return [&list](const Op& op, const Tensor& output, std::span<const Tensor> inputs) {
      list.push_back(fmt::format("{} {} of {}", op.name(), output.shape().str(), inputs.size()));
    };
  };
  const Tensor x = on(kCpu, {2, 3}), w = leaf(on(kCpu, {4, 3}));
  {
    const WatchOps watch(into(seen));
    const Tensor y = relu(linear(x, w, {}));
    gradients(y, {w}, on(kCpu, {2, 4}));  // what a derivative computes is no operation
    {
      const WatchOps nested(into(inner));
      const NoGrad no_grad;
      exp(x);
    }
    reshape(x, {6});
  }
  exp(x);
  const std::vector<std::string> expected{"linear [2, 4] of 3", "relu [2, 4] of 1", "reshape [6] of 1"};
  BOOST_TEST(seen == expected, boost::test_tools::per_element());
  BOOST_TEST(inner == std::vector<std::string>{"exp [2, 3] of 1"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
