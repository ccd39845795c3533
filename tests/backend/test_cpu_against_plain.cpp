// Each kernel of the CPU against the plain loop, over a grid of shapes.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/backend/compare.h"

namespace {

using namespace tg;
using namespace tg::test;

BOOST_AUTO_TEST_SUITE(cpu_against_plain)

BOOST_AUTO_TEST_CASE(matmul) {
  for (const int64_t m : {1, 2, 7, 33})
    for (const int64_t n : {1, 3, 8, 65})
      for (const int64_t k : {1, 5, 16, 129})
        for (const bool ta : {false, true})
          for (const bool tb : {false, true}) {
            const Tensor a = random_tensor("a", ta ? Shape{k, m} : Shape{m, k});
            const Tensor b = random_tensor("b", tb ? Shape{n, k} : Shape{k, n});
            compare("matmul " + numbers({m, n, k, ta, tb}), {{m, n}}, k,
                    [&](Backend& on, std::vector<Tensor>& out) { on.matmul(a, ta, b, tb, out[0]); });
          }
}

BOOST_AUTO_TEST_CASE(matmul_of_nothing) {
  const Tensor a = Tensor::zeros({3, 0}), b = Tensor::zeros({0, 2}), none = Tensor::zeros({0, 4});
  compare("matmul k = 0", {{3, 2}}, 0,
          [&](Backend& on, std::vector<Tensor>& out) { on.matmul(a, false, b, false, out[0]); });
  compare("matmul m = 0", {{0, 2}}, 0, [&](Backend& on, std::vector<Tensor>& out) {
    on.matmul(none, false, Tensor::zeros({4, 2}), false, out[0]);
  });
}

BOOST_AUTO_TEST_CASE(linear) {
  for (const int64_t n : {1, 3, 32})
    for (const int64_t in : {1, 7, 64})
      for (const int64_t out : {1, 10, 33})
        for (const bool bias : {false, true})
          for (const bool relu : {false, true}) {
            const Tensor x = random_tensor("x", {n, in}), w = random_tensor("w", {out, in});
            const Tensor b = bias ? random_tensor("b", {out}) : Tensor();
            compare("linear " + numbers({n, in, out, bias, relu}), {{n, out}}, in,
                    [&](Backend& on, std::vector<Tensor>& y) { on.linear(x, w, b, relu, y[0]); });
          }
}

BOOST_AUTO_TEST_CASE(reductions) {
  for (const int64_t outer : {1, 2, 5})
    for (const int64_t n : {1, 3, 17, 5000})
      for (const int64_t inner : {1, 2, 19}) {
        const std::string sizes = numbers({outer, n, inner});
        const Tensor x = random_tensor("x", {outer, n, inner}), tied = tied_tensor("x", {outer, n, inner});
        compare("sum " + sizes, {{outer, inner}}, n,
                [&](Backend& on, std::vector<Tensor>& y) { on.sum(x, outer, n, inner, y[0]); });
        Tensor where[2] = {Tensor::empty({outer, inner}, DType::i32), Tensor::empty({outer, inner}, DType::i32)};
        const auto max = [&](Backend& on, std::vector<Tensor>& y) {
          Tensor& index = where[&on == &cpu_backend()];
          on.max(tied, outer, n, inner, y[0], index);
          on.max_backward(y[0], index, outer, n, inner, y[1]);
        };
        compare("max " + sizes, {{outer, inner}, {outer, n, inner}}, 0, max);
        same("max " + sizes, where[0], where[1]);
      }
}

// The grid's largest sum decides what rounding is allowed.
BOOST_AUTO_TEST_CASE(convolutions) {
  for (const int64_t stride : {1, 2, 3})
    for (const int64_t padding : {0, 1, 2})
      for (const int64_t kernel : {1, 2, 3, 5})
        for (const int64_t channels : {1, 3, 16})
          for (const int64_t filters : {1, 20}) {
            const int64_t n = 2, height = 9, width = 8;  // neither stride divides all of the sizes
            const ConvGeometry g{stride, padding};
            const int64_t oh = g.out(height, kernel), ow = g.out(width, kernel);
            const std::string sizes = numbers({stride, padding, kernel, channels, filters});
            const Shape in{n, height, width, channels}, weights{filters, kernel, kernel, channels};
            const Shape out{n, oh, ow, filters};
            const Tensor x = random_tensor("x", in), w = random_tensor("w", weights), b = random_tensor("b", {filters});
            const Tensor gradient = random_tensor("g", out);
            const bool relu = (stride + padding + kernel) % 2 == 0, bias = (stride + channels) % 2 == 0;
            compare("conv2d " + sizes, {out}, kernel * kernel * channels,
                    [&](Backend& on, std::vector<Tensor>& y) { on.conv2d(x, w, bias ? b : Tensor(), g, relu, y[0]); });
            compare("conv2d backward data " + sizes, {in}, kernel * kernel * filters,
                    [&](Backend& on, std::vector<Tensor>& y) { on.conv2d_backward_data(gradient, w, g, y[0]); });
            compare("conv2d backward weights " + sizes, {weights, {filters}}, n * oh * ow,
                    [&](Backend& on, std::vector<Tensor>& y) {
                      Tensor none;
                      on.conv2d_backward_weights(x, gradient, g, y[0], bias ? y[1] : none);
                      if (!bias) y[1].fill(0);
                    });
          }
}

BOOST_AUTO_TEST_CASE(convolutions_of_odd_pictures) {
  struct Problem {
    Shape x, weight;
    ConvGeometry g;
  };
  for (const Problem& p : {Problem{{1, 1, 1, 1}, {1, 1, 1, 1}, {}}, Problem{{3, 1, 13, 4}, {2, 1, 4, 4}, {3, 0}},
                           Problem{{1, 4, 4, 8}, {8, 4, 4, 8}, {}}, Problem{{2, 5, 3, 2}, {3, 3, 1, 2}, {2, 1}},
                           Problem{{1, 2, 2, 1}, {1, 3, 3, 1}, {1, 4}}, Problem{{1, 7, 7, 3}, {4, 2, 2, 3}, {5, 0}},
                           Problem{{4, 28, 28, 1}, {32, 5, 5, 1}, {}}, Problem{{2, 12, 12, 32}, {64, 5, 5, 32}, {}}}) {
    const Shape out{p.x[0], p.g.out(p.x[1], p.weight[1]), p.g.out(p.x[2], p.weight[2]), p.weight[0]};
    const Tensor x = random_tensor("x", p.x), w = random_tensor("w", p.weight), gradient = random_tensor("g", out);
    const std::string sizes = p.x.str() + " " + p.weight.str();
    compare("conv2d " + sizes, {out}, p.weight.count() / p.weight[0],
            [&](Backend& on, std::vector<Tensor>& y) { on.conv2d(x, w, Tensor(), p.g, false, y[0]); });
    compare("conv2d backward data " + sizes, {p.x}, p.weight.count() / p.weight[3],
            [&](Backend& on, std::vector<Tensor>& y) { on.conv2d_backward_data(gradient, w, p.g, y[0]); });
    compare("conv2d backward weights " + sizes, {p.weight, {p.weight[0]}}, out.count() / out[3],
            [&](Backend& on, std::vector<Tensor>& y) { on.conv2d_backward_weights(x, gradient, p.g, y[0], y[1]); });
  }
}

BOOST_AUTO_TEST_CASE(pools) {
  for (const int64_t kernel : {1, 2, 3, 5})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t padding : {0, 1, 2})
        for (const int64_t channels : {1, 3, 32})
          for (const bool relu : {false, true}) {
            const PoolGeometry g{kernel, stride, padding};
            if (padding >= kernel) continue;
            const Shape in{2, 9, 8, channels}, out{2, g.out(9), g.out(8), channels};
            const std::string sizes = numbers({kernel, stride, padding, channels, relu});
            const Tensor x = tied_tensor("x", in), gradient = random_tensor("g", out);
            Tensor where[2] = {Tensor::empty(out, DType::u8), Tensor::empty(out, DType::u8)};
            compare("max_pool2d " + sizes, {out, in}, kernel * kernel, [&](Backend& on, std::vector<Tensor>& y) {
              Tensor& index = where[&on == &cpu_backend()];
              on.max_pool2d(x, g, relu, y[0], index);
              on.max_pool2d_backward(gradient, index, g, y[1]);
            });
            same("max_pool2d " + sizes, where[0], where[1]);
          }
}

BOOST_AUTO_TEST_CASE(convolutions_with_dilation_and_groups) {
  for (const int64_t dilation : {1, 2, 3})
    for (const int64_t groups : {1, 2, 16})
      for (const int64_t stride : {1, 2})
        for (const int64_t padding : {0, 2}) {
          const ConvGeometry g{stride, padding, dilation, groups};
          const Shape in{2, 11, 10, 16}, weights{32, 3, 2, 16 / groups}, out{2, g.out(11, 3), g.out(10, 2), 32};
          const Tensor x = random_tensor("x", in), w = random_tensor("w", weights), b = random_tensor("b", {32});
          const Tensor gradient = random_tensor("g", out);
          const std::string sizes = numbers({dilation, groups, stride, padding});
          compare("conv2d " + sizes, {out}, 96 / groups,
                  [&](Backend& on, std::vector<Tensor>& y) { on.conv2d(x, w, b, g, true, y[0]); });
          compare("conv2d backward data " + sizes, {in}, 192 / groups,
                  [&](Backend& on, std::vector<Tensor>& y) { on.conv2d_backward_data(gradient, w, g, y[0]); });
          compare("conv2d backward weights " + sizes, {weights, {32}}, out.count() / 32,
                  [&](Backend& on, std::vector<Tensor>& y) { on.conv2d_backward_weights(x, gradient, g, y[0], y[1]); });
        }
}

BOOST_AUTO_TEST_CASE(averaging_pools) {
  for (const int64_t kernel : {1, 2, 3, 8})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t padding : {0, 1})
        for (const int64_t channels : {1, 3, 32}) {
          if (padding >= kernel) continue;
          const PoolGeometry g{kernel, stride, padding};
          const Shape in{2, 9, 8, channels}, out{2, g.out(9), g.out(8), channels};
          const Tensor x = random_tensor("x", in), gradient = random_tensor("g", out);
          compare("avg_pool2d " + numbers({kernel, stride, padding, channels}), {out, in}, kernel * kernel,
                  [&](Backend& on, std::vector<Tensor>& y) {
                    on.avg_pool2d(x, g, y[0]);
                    on.avg_pool2d_backward(gradient, g, y[1]);
                  });
        }
}

BOOST_AUTO_TEST_CASE(batch_normalisation) {
  for (const Shape& in : {Shape{2, 1}, Shape{33, 5}, Shape{4, 7, 5, 16}, Shape{1, 3, 2, 20}, Shape{6, 2, 3, 64}})
    for (const bool relu : {false, true}) {
      const int64_t channels = in[in.rank() - 1];
      const Tensor x = random_tensor("x", in), gradient = random_tensor("g", in);
      const Tensor scale = random_tensor("scale", {channels}), shift = random_tensor("shift", {channels});
      const BatchNormGeometry g{1e-3, relu};
      const Shape c{channels};
      compare("batch_norm " + in.str() + (relu ? " relu" : ""), {in, c, c, in, c, c}, in.count() / channels,
              [&](Backend& on, std::vector<Tensor>& y) {
                Tensor kept;
                on.batch_norm(x, scale, shift, g, y[0], y[1], y[2], kept);
                on.batch_norm_backward(gradient, x, scale, y[1], y[2], kept, g, y[3], y[4], y[5]);
              });
    }
}

BOOST_AUTO_TEST_CASE(nan_wins_in_maxima) {
  Tensor x = Tensor::from<float>({1, NAN, 3, NAN, 7, 9}, {1, 6, 1, 1});
  for (Backend* on : {&plain_backend(), &cpu_backend()}) {
    Tensor y = Tensor::empty({1, 3, 1, 1}), index = Tensor::empty({1, 3, 1, 1}, DType::u8);
    on->max_pool2d(x, {.kernel = 1, .stride = 2}, false, y, index);
    Tensor largest = Tensor::empty({1, 1}), at = Tensor::empty({1, 1}, DType::i32);
    on->max(x, 1, 6, 1, largest, at);
    BOOST_TEST((std::isnan(largest.item()) && at.item() == 1));
    Tensor wide = x.as_strided({1, 2, 3, 1}, row_major({1, 2, 3, 1}), 0);
    Tensor best = Tensor::empty({1, 1, 1, 1}), best_at = Tensor::empty({1, 1, 1, 1}, DType::u8);
    on->max_pool2d(wide, {.kernel = 2, .stride = 2}, true, best, best_at);
    BOOST_TEST((std::isnan(best.item()) && best_at.item() == 1));
  }
}

// A relu that made NaN 0 would hide that a run has diverged. The channels are those of oneDNN's vectors, and others.
BOOST_AUTO_TEST_CASE(relu_keeps_nan) {
  const auto with_nan = [](const char* name, const Shape& shape) {
    Tensor t = random_tensor(name, shape);
    t.data<float>()[t.count() - 1] = NAN;
    return t;
  };
  for (const int64_t channels : {7, 8, 16, 64})
    for (const char* wrong : {"x", "weight", "bias", "none"}) {
      const auto tensor = [&](const std::string& name, const Shape& shape) {
        return name == wrong ? with_nan(wrong, shape) : random_tensor(name, shape);
      };
      const Shape pictures{3, 4, 4, channels}, vector{channels};
      const Tensor x = tensor("x", pictures), vectors[] = {tensor("weight", vector), tensor("bias", vector)};
      const Tensor kernel = tensor("weight", {channels, 3, 3, channels});
      const Tensor rows = tensor("x", {3, channels}), matrix = tensor("weight", {channels, channels});
      const Tensor zeros = Tensor::zeros(vector), ones = Tensor::full(vector, 1);
      std::vector<std::vector<bool>> nan[2];
      for (Backend* on : {&plain_backend(), &cpu_backend()}) {
        Tensor y = Tensor::empty(pictures), mean = Tensor::empty(vector), variance = Tensor::empty(vector), kept;
        const auto look = [&](const Tensor& at) {
          std::vector<bool> is;
          for (const double v : at.values()) is.push_back(std::isnan(v));
          nan[on == &cpu_backend()].push_back(is);
        };
        on->conv2d(x, kernel, vectors[1], {.padding = 1}, true, y);
        look(y);
        on->batch_norm(x, vectors[0], vectors[1], {.relu = true}, y, mean, variance, kept);
        look(y);
        on->batch_norm_fixed(x, vectors[0], vectors[1], zeros, ones, {.relu = true}, y);
        look(y);
        Tensor product = Tensor::empty({3, channels});
        on->linear(rows, matrix, vectors[1], true, product);
        look(product);
      }
      for (size_t i = 0; i < nan[0].size(); ++i) {
        BOOST_TEST((nan[0][i] == nan[1][i]), "kernel " << i << ", " << channels << " channels, NaN in " << wrong);
        const bool any = std::find(nan[1][i].begin(), nan[1][i].end(), true) != nan[1][i].end();
        BOOST_TEST(any == (wrong != std::string("none")));
      }
    }
}

// A dead channel has no variance, and is no NaN.
BOOST_AUTO_TEST_CASE(batch_norm_of_zeros) {
  const Tensor x = Tensor::zeros({4, 16}), ones = Tensor::full({16}, 1);
  Tensor y = Tensor::empty({4, 16}), mean = Tensor::empty({16}), variance = Tensor::empty({16}), kept;
  cpu_backend().batch_norm(x, ones, ones, {.relu = true}, y, mean, variance, kept);
  for (const double v : y.values()) BOOST_TEST(v == 1);
}

BOOST_AUTO_TEST_CASE(softmax_and_cross_entropy) {
  for (const int64_t n : {1, 2, 37})
    for (const int64_t classes : {1, 2, 10, 101}) {
      const std::string sizes = numbers({n, classes});
      const Shape shape{n, classes};
      const Tensor x = random_tensor("x", shape), gradient = random_tensor("g", shape);
      std::vector<int32_t> labels;
      for (int64_t i = 0; i < n; ++i) labels.push_back(static_cast<int32_t>(i * 7 % classes));
      const Tensor label = Tensor::from(labels, {n}), scale = Tensor::full({}, 1.5);
      compare("log_softmax " + sizes, {shape, shape}, classes, [&](Backend& on, std::vector<Tensor>& y) {
        on.log_softmax(x, y[0]);
        on.log_softmax_backward(gradient, y[0], y[1]);
      });
      compare("cross_entropy " + sizes, {{}, shape, shape}, classes, [&](Backend& on, std::vector<Tensor>& y) {
        on.cross_entropy(x, label, {.rows = n}, y[0], y[1]);
        on.cross_entropy_backward(scale, y[1], label, {.rows = n}, y[2]);
      });
    }
}

BOOST_AUTO_TEST_CASE(relu_backward) {
  for (const int64_t n : {1, 15, 16, 17, 100'003}) {
    const Tensor y = tied_tensor("y", {n}), gradient = random_tensor("g", {n});
    compare("relu_backward " + numbers({n}), {{n}, {n}}, 0, [&](Backend& on, std::vector<Tensor>& out) {
      on.relu_backward(gradient, y, out[0]);
      out[1].copy_from(gradient);
      on.relu_backward(out[1], y, out[1]);  // in place
      BOOST_TEST((out[0].values() == out[1].values()));
    });
  }
}

BOOST_AUTO_TEST_CASE(the_device_and_the_type_choose_the_kernels) {
  BOOST_TEST(&backend_for(Tensor::zeros({1}, DType::f32, kCpu)) == &cpu_backend());
  BOOST_TEST(&backend_for(Tensor::zeros({1}, DType::f64, kCpu)) == &plain_backend());
  BOOST_TEST(&backend_for(Tensor::zeros({1}, DType::f32, kPlain)) == &plain_backend());
  BOOST_TEST(&backend_for(Tensor::zeros({1}, DType::i32, kCpu)) == &plain_backend());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
