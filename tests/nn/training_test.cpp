// Whole training steps: threads beside each other, memory over time, batches of several sizes.

#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <thread>

#include "framework/core/for_each.h"
#include "framework/core/pool.h"
#include "framework/nn/models/models.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"

using namespace tg;

namespace {

struct Descend {
  float eta;
  TG_HD void operator()(float& w, float g) const { w -= eta * g; }
};

struct Trainer {
  Trainer(Model m, uint64_t seed) : model(std::move(m)), stream(Stream(seed).split("data")) {
    model.bind_new(seed);
    gradient = Tensor::empty({model.layout().size()});
  }
  float step(int64_t batch) {
    Tensor x = Tensor::empty({batch, 28, 28, 1}), labels = Tensor::empty({batch}, DType::i32);
    float* px = x.data<float>();
    for (int64_t i = 0; i < x.count(); ++i) px[i] = stream.normal(static_cast<uint64_t>(drawn + i));
    for (int64_t i = 0; i < batch; ++i) labels.data<int32_t>()[i] = static_cast<int32_t>((i + drawn) % 10);
    drawn += x.count();
    const Tensor loss = cross_entropy(model(x, {}), labels);
    gradients(loss, model.parameters(), gradient.span());
    Tensor flat = model.parameters().flat;
    for_each(Descend{0.01f}, flat.span(), gradient.view());
    return static_cast<float>(loss.item());
  }
  Model model;
  Stream stream;
  Tensor gradient;
  int64_t drawn = 0;
};

std::vector<double> trained(uint64_t seed) {
  omp_set_num_threads(1);
  Trainer trainer(make_lenet({28, 28, 1}, 10), seed);
  for (int i = 0; i < 4; ++i) trainer.step(8);
  return trainer.model.parameters().flat.values();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(training)

BOOST_AUTO_TEST_CASE(ten_threads_get_the_bytes_of_one_after_another) {
  std::vector<std::vector<double>> together(10);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < together.size(); ++i) threads.emplace_back([&, i] { together[i] = trained(i); });
  for (std::thread& t : threads) t.join();
  for (size_t i = 0; i < together.size(); ++i) BOOST_TEST((together[i] == trained(i)), "thread " << i);
}

BOOST_AUTO_TEST_CASE(eight_threads_of_small_products) {
  const auto product_is_right = [](uint64_t number) {
    const Stream stream = Stream(11).split("product", number);
    const auto size = [&](uint64_t i) { return static_cast<int64_t>(1 + stream.bits(1000 + i)[0] % 24); };
    const int64_t m = size(0), n = size(1), k = size(2);
    Tensor a = Tensor::empty({m, k}), b = Tensor::empty({k, n});
    float *pa = a.data<float>(), *pb = b.data<float>();
    // Small whole numbers: every order of summation gives the same float.
    for (int64_t i = 0; i < m * k; ++i) pa[i] = static_cast<float>(stream.bits(static_cast<uint64_t>(i))[1] % 9) - 4;
    for (int64_t i = 0; i < k * n; ++i) pb[i] = static_cast<float>(stream.bits(static_cast<uint64_t>(i))[2] % 9) - 4;
    const Tensor c = matmul(a, b);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l) sum += pa[i * k + l] * pb[l * n + j];
        if (c.data<float>()[i * n + j] != sum) return false;
      }
    return true;
  };
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      omp_set_num_threads(1);
      for (uint64_t i = 0; i < 1250; ++i) wrong += !product_is_right(t * 1250 + i);
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(memory_stays_flat) {
  Trainer trainer(make_mlp({28, 28, 1}, {64}, 10), 1);
  int64_t after_10 = 0, calls = 0;
  for (int i = 1; i <= 1000; ++i) {
    trainer.step(16);
    if (i == 10) after_10 = pool::stats().live, calls = pool::stats().system_calls;
  }
  BOOST_TEST(pool::stats().live == after_10);
  BOOST_TEST(pool::stats().system_calls == calls);
}

BOOST_AUTO_TEST_CASE(memory_of_a_convolutional_net_stays_flat_too) {
  Trainer trainer(make_lenet({28, 28, 1}, 10), 1);
  int64_t after_10 = 0, calls = 0;
  for (int i = 1; i <= 50; ++i) {
    trainer.step(8);
    if (i == 10) after_10 = pool::stats().live, calls = pool::stats().system_calls;
  }
  BOOST_TEST(pool::stats().live == after_10);
  BOOST_TEST(pool::stats().system_calls == calls);
}

BOOST_AUTO_TEST_CASE(batches_of_several_sizes_in_a_row) {
  // A batch of one size must not disturb the next of another: the loss at the same parameters and data is the same.
  Trainer trainer(make_lenet({28, 28, 1}, 10), 3);
  NoGrad no_grad;
  const auto logits = [&](int64_t n) { return trainer.model(Tensor::full({n, 28, 28, 1}, 0.5), {}).values(); };
  const auto one = logits(1);
  for (int64_t n : {5, 3, 128, 1, 7}) {
    const auto many = logits(n);
    for (size_t i = 0; i < many.size(); ++i) BOOST_TEST(many[i] == one[i % 10], boost::test_tools::tolerance(1e-4));
  }
}

BOOST_AUTO_TEST_CASE(a_model_learns_labels_by_heart) {
  Trainer trainer(make_lenet({28, 28, 1}, 10), 5);
  const float first = trainer.step(32);
  float last = first;
  for (int i = 0; i < 80; ++i) {
    trainer.drawn = 0;
    last = trainer.step(32);
  }
  BOOST_TEST(last < first / 10);
}

BOOST_AUTO_TEST_SUITE_END()
