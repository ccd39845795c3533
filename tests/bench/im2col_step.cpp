// A rung of docs/performance.md's ladder: lenet's training step with its convolutions as a copy of all patches (im2col)
// and one matrix product. Written with gather and linear, so that the way back (col2im) is gather's derivative.
#include <omp.h>

#include "framework/autograd/graph.h"
#include "framework/core/for_each.h"
#include "framework/core/random.h"
#include "framework/ops/join.h"
#include "framework/ops/loss.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pool.h"
#include "framework/ops/shape.h"
#include "tests/bench/common.hpp"

namespace {

using namespace tg;

// Where the pixels of every kernel x kernel patch of a side x side picture lie, patch by patch.
Tensor patch_pixels(int32_t side, int32_t kernel) {
  std::vector<int32_t> pixels;
  for (int32_t i = 0; i + kernel <= side; ++i)
    for (int32_t j = 0; j + kernel <= side; ++j)
      for (int32_t r = 0; r < kernel; ++r)
        for (int32_t s = 0; s < kernel; ++s) pixels.push_back((i + r) * side + j + s);
  const auto count = std::ssize(pixels);
  return Tensor::from(pixels, {count});
}

// x [N, side, side, C], weight [K, kernel kernel C] -> [N, side - kernel + 1, side - kernel + 1, K]
Tensor im2col_conv(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t kernel, const Tensor& pixels) {
  const int64_t n = x.dim(0), side = x.dim(1), c = x.dim(3), out = side - kernel + 1;
  const Tensor patches = gather(reshape(x, {n, side * side, c}), 1, pixels);
  const Tensor y = linear(reshape(patches, {n * out * out, kernel * kernel * c}), weight, bias);
  return reshape(y, {n, out, out, weight.dim(0)});
}

Tensor normal(const char* name, const Shape& shape, float scale) {
  Tensor t = Tensor::empty(shape);
  const Stream stream = Stream(1).split(name);
  const Span values = t.span();
  for (int64_t i = 0; i < values.size; ++i) values[i] = scale * stream.normal(static_cast<uint64_t>(i));
  return t;
}

struct Step {
  Tensor x = normal("x", {bench::kBatch, 28, 28, 1}, 1), labels = Tensor::zeros({bench::kBatch}, DType::i32);
  Tensor pixels1 = patch_pixels(28, 5), pixels2 = patch_pixels(12, 5);
  std::vector<Tensor> weights = {normal("conv1", {32, 25}, 0.2f), normal("conv2", {64, 800}, 0.05f),
                                 normal("fc1", {128, 1024}, 0.04f), normal("fc2", {10, 128}, 0.1f)};
  std::vector<Tensor> biases = {Tensor::zeros({32}), Tensor::zeros({64}), Tensor::zeros({128}), Tensor::zeros({10})};
  std::vector<Tensor> velocities;

  Step() {
    for (const Tensor& t : parameters()) velocities.push_back(Tensor::zeros(t.shape()));
  }

  std::vector<Tensor> parameters() const {
    std::vector<Tensor> all = weights;
    all.insert(all.end(), biases.begin(), biases.end());
    return all;
  }

  void operator()() {
    std::vector<Tensor> p;
    for (const Tensor& t : parameters()) p.push_back(leaf(t));
    Tensor h = max_pool2d(im2col_conv(x, p[0], p[4], 5, pixels1), {.relu = true});
    h = max_pool2d(im2col_conv(h, p[1], p[5], 5, pixels2), {.relu = true});
    h = linear(reshape(h, {bench::kBatch, 1024}), p[2], p[6], true);
    const Tensor loss = cross_entropy(linear(h, p[3], p[7]), labels);
    const std::vector<Tensor> g = gradients(loss, p, Tensor::full({}, 1));
    std::vector<Tensor> values = parameters();
    for (size_t i = 0; i < p.size(); ++i)
      for_each(
          [](float& w, float& v, float gradient) {
            v = 0.9f * v + gradient;
            w -= 0.01f * v;
          },
          values[i].span(), velocities[i].span(), View(g[i].view()));
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bench::Args arguments(argc, argv);
  const int threads = static_cast<int>(arguments.num("threads", 1));
  omp_set_num_threads(threads);
  Step step;
  const auto times = bench::timeit(step, arguments.num("budget", 3));
  bench::result("lenet", "im2col", threads, times, bench::kBatch, bench::flop_lenet());
}
