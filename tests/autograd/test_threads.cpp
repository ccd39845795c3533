// Differentiation has no global state: threads do not meet.
#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <thread>

#include "framework/autograd/graph.h"
#include "framework/core/random.h"
#include "framework/ops/conv.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pool.h"
#include "framework/ops/reduce.h"
#include "framework/ops/shape.h"

namespace {

using namespace tg;

constexpr int kThreads = 10;

Tensor random_tensor(const Stream& stream, const Shape& shape) {
  Tensor t = Tensor::empty(shape);
  for (int64_t i = 0; i < t.count(); ++i) t.span()[i] = 0.1f * stream.normal(static_cast<uint64_t>(i));
  return t;
}

// A few steps of gradient descent on a small network of its own, which ends with these weights.
std::vector<double> train(uint64_t seed) {
  omp_set_num_threads(1);
  const Stream stream = Stream(seed).split("train");
  const Tensor x = random_tensor(stream.split("x"), {8, 8, 8, 3});
  const Tensor labels = Tensor::from<int32_t>({0, 1, 2, 3, 0, 1, 2, 3}, {8});
  std::vector<Tensor> weights;
  for (const Shape& shape : {Shape{6, 3, 3, 3}, Shape{6}, Shape{4, 54}, Shape{4}})
    weights.push_back(random_tensor(stream.split("weight", weights.size()), shape));
  for (int step = 0; step < 5; ++step) {
    std::vector<Tensor> leaves;
    for (const Tensor& w : weights) leaves.push_back(leaf(w));
    const Tensor c = max_pool2d(conv2d(x, leaves[0], leaves[1], {.relu = true}));
    const Tensor loss = cross_entropy(linear(reshape(tanh(c), {8, -1}), leaves[2], leaves[3]), labels);
    const auto g = gradients(loss, leaves, Tensor::full({}, 1));
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = weights[i] - 0.5 * g[i];
  }
  std::vector<double> all;
  for (const Tensor& w : weights) {
    const auto v = w.values();
    all.insert(all.end(), v.begin(), v.end());
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(ten_at_once_get_what_each_gets_alone) {
  std::vector<std::vector<double>> together(kThreads), alone(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back([&, i] { together[i] = train(i); });
  for (std::thread& t : threads) t.join();
  for (size_t i = 0; i < kThreads; ++i) std::thread([&] { alone[i] = train(i); }).join();
  for (size_t i = 0; i < kThreads; ++i) BOOST_TEST((together[i] == alone[i]), "thread " << i);
  BOOST_TEST((alone[0] != alone[1]));
}

BOOST_AUTO_TEST_CASE(recording_is_switched_off_for_one_thread) {
  const NoGrad no_grad;
  bool recorded = false;
  std::thread([&] { recorded = (leaf(Tensor::zeros({1})) * 2).node() != nullptr; }).join();
  BOOST_TEST(recorded);
}

BOOST_AUTO_TEST_CASE(a_graph_may_be_made_and_differentiated_elsewhere) {
  const Tensor x = leaf(Tensor::full({1}, 3));
  Tensor y, g;
  std::thread([&] { y = x * x; }).join();
  std::thread([&] { g = gradients(y, {x}, Tensor::full({1}, 1))[0]; }).join();
  BOOST_TEST(g.item() == 6);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
