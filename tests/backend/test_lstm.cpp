// The CPU's LSTM against the plain one, batches against their sequences alone, and the functions of its gates.
#include <limits>

#include "framework/backend/cpu/vector_math.h"
#include "tests/backend/compare.h"

namespace {

using namespace tg;
using namespace tg::test;

Tensor scaled(Tensor t, float factor) {
  for (float& v : t.span()) v *= factor;
  return t;
}

// A layer's inputs; weights are as large as an initialiser would make them.
struct Layer {
  Layer(int64_t n, int64_t t, int64_t i, int64_t h)
      : x(random_tensor("x", {n, t, i})),
        gradient(random_tensor("g", {n, t, h})),
        weight(scaled(random_tensor("w", {4 * h, i}), 1 / std::sqrt(static_cast<float>(i)))),
        recurrent_weight(scaled(random_tensor("u", {4 * h, h}), 1 / std::sqrt(static_cast<float>(h)))),
        bias(random_tensor("b", {4 * h})) {}

  // Outputs: y, dx, dweight, drecurrent_weight, dbias.
  std::vector<Shape> outputs() const {
    return {gradient.shape(), x.shape(), weight.shape(), recurrent_weight.shape(), bias.shape()};
  }
  void operator()(Backend& on, std::vector<Tensor>& out) const {
    Tensor kept;
    on.lstm(x, weight, recurrent_weight, bias, lengths, out[0], kept);
    on.lstm_backward(gradient, x, weight, recurrent_weight, lengths, out[0], kept, out[1], out[2], out[3], out[4]);
  }
  std::vector<Tensor> run(Backend& on) const {
    std::vector<Tensor> out;
    for (const Shape& shape : outputs()) out.push_back(Tensor::full(shape, NAN));
    (*this)(on, out);
    return out;
  }

  Tensor x, gradient, weight, recurrent_weight, bias, lengths;
};

// 1 to `most`, in no order.
Tensor mixed_lengths(int64_t n, int64_t most) {
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < n; ++i) lengths.push_back(static_cast<int32_t>(1 + (i * 7 + 3) % most));
  return Tensor::from(lengths, {n});
}

// Sequence n of x [N, T, F] without its padding.
Tensor alone(const Tensor& x, int64_t n, int64_t steps) {
  const int64_t width = x.dim(2);
  return x.as_strided({1, steps, width}, row_major({1, steps, width}), n * x.dim(1) * width);
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), 4 * static_cast<size_t>(a.count())) == 0;
}

BOOST_AUTO_TEST_SUITE(lstm_kernels)

BOOST_AUTO_TEST_CASE(cpu_against_plain) {
  for (const int64_t n : {1, 3, 18})
    for (const int64_t t : {1, 2, 9})
      for (const int64_t i : {1, 6})
        for (const int64_t h : {1, 8, 37})
          for (const bool mixed : {false, true}) {
            Layer layer(n, t, i, h);
            if (mixed) layer.lengths = mixed_lengths(n, t);
            compare("lstm " + numbers({n, t, i, h, mixed}), layer.outputs(), n * t * (h + i), layer);
          }
}

// Few sequences and many: each way of sharing the work among threads. The bits may differ with the number of threads:
// oneDNN's products of 10 rows are not those of 20 on every processor.
BOOST_AUTO_TEST_CASE(shared_by_threads) {
  const int before = omp_get_max_threads();
  for (const bool mixed : {false, true})
    for (const auto& [n, h] : {std::pair<int64_t, int64_t>{4, 300}, {70, 40}, {3, 40}}) {
      Layer layer(n, 6, 5, h);
      if (mixed) layer.lengths = mixed_lengths(n, 6);
      for (const int threads : {1, 2, 3}) {
        omp_set_num_threads(threads);
        compare("lstm " + numbers({n, h, mixed, threads}), layer.outputs(), n * 6 * h, layer);
        const auto first = layer.run(cpu_backend()), second = layer.run(cpu_backend());
        for (size_t i = 0; i < first.size(); ++i) BOOST_TEST(same_bytes(first[i], second[i]), "output " << i);
      }
    }
  omp_set_num_threads(before);
}

BOOST_AUTO_TEST_CASE(the_same_bytes_twice_whatever_was_computed_between) {
  const Layer small(2, 3, 4, 5), large(33, 7, 4, 5);
  const auto first = small.run(cpu_backend());
  large.run(cpu_backend());
  const auto second = small.run(cpu_backend());
  for (size_t i = 0; i < first.size(); ++i) BOOST_TEST(same_bytes(first[i], second[i]), "output " << i);
}

BOOST_AUTO_TEST_CASE(lengths_that_are_all_whole_change_nothing) {
  Layer layer(9, 5, 4, 16);
  const auto without = layer.run(cpu_backend());
  layer.lengths = Tensor::from(std::vector<int32_t>(9, 5), {9});
  const auto with = layer.run(cpu_backend());
  for (size_t i = 0; i < with.size(); ++i) BOOST_TEST(same_bytes(with[i], without[i]), "output " << i);
}

BOOST_AUTO_TEST_CASE(a_padded_batch_is_each_sequence_alone) {
  const int64_t n = 11, t = 6, i = 3, h = 10;
  Layer batch(n, t, i, h);
  batch.lengths = mixed_lengths(n, t);
  // What stands in the padding is not looked at.
  for (int64_t s = 0; s < n; ++s)
    for (int64_t step = batch.lengths.data<int32_t>()[s]; step < t; ++step)
      for (int64_t k = 0; k < i; ++k) batch.x.data<float>()[(s * t + step) * i + k] = NAN;
  for (Backend* on : {&plain_backend(), &cpu_backend()}) {
    const auto together = batch.run(*on);
    std::vector<double> sums(static_cast<size_t>(batch.weight.count()));
    for (int64_t s = 0; s < n; ++s) {
      const int64_t steps = batch.lengths.data<int32_t>()[s];
      Layer single(1, steps, i, h);
      single.x = alone(batch.x, s, steps), single.gradient = alone(batch.gradient, s, steps);
      const auto one = single.run(*on);
      for (const size_t output : {0, 1}) {
        const auto a = alone(together[output], s, t).values(), b = one[output].values();
        for (size_t k = 0; k < a.size(); ++k)
          BOOST_TEST(std::abs(a[k] - (k < b.size() ? b[k] : 0)) <= 1e-5, "sequence " << s << ", element " << k);
      }
      const auto dweight = one[2].values();
      for (size_t k = 0; k < sums.size(); ++k) sums[k] += dweight[k];
    }
    const auto dweight = together[2].values();
    for (size_t k = 0; k < sums.size(); ++k) BOOST_TEST(std::abs(dweight[k] - sums[k]) <= 1e-4);
  }
}

BOOST_AUTO_TEST_CASE(without_a_gradient_of_the_input) {
  const Layer layer(3, 4, 2, 5);
  for (Backend* on : {&plain_backend(), &cpu_backend()}) {
    const auto all = layer.run(*on);
    std::vector<Tensor> out;
    for (const Shape& shape : layer.outputs()) out.push_back(Tensor::full(shape, NAN));
    out[1] = Tensor();
    layer(*on, out);
    for (const size_t output : {2, 3, 4}) BOOST_TEST(same_bytes(out[output], all[output]), "output " << output);
  }
}

BOOST_AUTO_TEST_CASE(sigmoid_and_tanh) {
  double worst_sigmoid = 0, worst_tanh = 0;
  // Floats of all sizes: every 1499th, 1.4 million of each sign.
  for (uint32_t bits = 0; bits < 0x7f800000; bits += 1499)
    for (const float x : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)}) {
      const double t = std::tanh(static_cast<double>(x)), s = 1 / (1 + std::exp(-static_cast<double>(x)));
      if (x != 0) worst_tanh = std::max(worst_tanh, std::abs((static_cast<double>(fast_tanh(x)) - t) / t));
      if (x > -87) worst_sigmoid = std::max(worst_sigmoid, std::abs((static_cast<double>(fast_sigmoid(x)) - s) / s));
    }
  BOOST_TEST(worst_tanh < 2e-7);
  BOOST_TEST(worst_sigmoid < 2e-7);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  BOOST_TEST((fast_tanh(kInfinity) == 1 && fast_tanh(-kInfinity) == -1 && fast_tanh(0) == 0));
  BOOST_TEST((fast_sigmoid(kInfinity) == 1 && fast_sigmoid(0) == 0.5f && fast_sigmoid(-kInfinity) < 2e-38f));
  BOOST_TEST((std::isnan(fast_tanh(NAN)) && std::isnan(fast_sigmoid(NAN))));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
