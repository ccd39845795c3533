// Layer normalisation, a row at a time: what a row needs stays in the cache.

#include <cmath>

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/cpu/lanes.h"

namespace tg {
namespace {

struct RowStatistics {
  float mean, root;  // root = 1 / sqrt(variance + epsilon)

  RowStatistics(const float* x, int64_t width, float epsilon) {
    const float n = static_cast<float>(width), m = cpu::lane_sum(width, [&](int64_t c) { return x[c]; }) / n;
    const auto squared = [&](int64_t c) { return (x[c] - m) * (x[c] - m); };
    mean = m;
    root = 1 / std::sqrt(cpu::lane_sum(width, squared) / n + epsilon);
  }
};

}  // namespace

void CpuBackend::layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, double epsilon, Tensor& y) {
  const int64_t width = scale.count();
  const float *in = x.data<float>(), *factor = scale.data<float>(), *offset = shift.data<float>();
  float* out = y.data<float>();
  detail::split_range(x.count(), width, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += width) {
      const float* __restrict from = in + at;
      float* __restrict to = out + at;
      const RowStatistics row(from, width, static_cast<float>(epsilon));
#pragma omp simd
      for (int64_t c = 0; c < width; ++c) to[c] = factor[c] * ((from[c] - row.mean) * row.root) + offset[c];
    }
  });
}

void CpuBackend::layer_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, double epsilon,
                                     Tensor& dx, Tensor& dscale, Tensor& dshift) {
  const int64_t width = scale.count();
  const float *grad = gradient.data<float>(), *in = x.data<float>(), *factor = scale.data<float>();
  float* out = dx.data<float>();
  Tensor totals = Tensor::empty({2, width});
  cpu::sum_over_rows(
      x.count() / width, width, 2 * width, totals.data<float>(), [&](int64_t first, int64_t last, float* sums) {
        float* __restrict scales = sums, * __restrict shifts = sums + width;
        for (int64_t at = first * width; at < last * width; at += width) {
          const float* __restrict g = grad + at, * __restrict from = in + at;
          float* __restrict to = out + at;
          const RowStatistics row(from, width, static_cast<float>(epsilon));
          const auto normalised = [&](int64_t c) { return (from[c] - row.mean) * row.root; };
          const auto h = [&](int64_t c) { return g[c] * factor[c]; };
          const float n = static_cast<float>(width), mean_h = cpu::lane_sum(width, h) / n;
          const float mean_h_xhat = cpu::lane_sum(width, [&](int64_t c) { return h(c) * normalised(c); }) / n;
#pragma omp simd
          for (int64_t c = 0; c < width; ++c) {
            shifts[c] += g[c];
            scales[c] += g[c] * normalised(c);
            to[c] = row.root * (h(c) - mean_h - normalised(c) * mean_h_xhat);
          }
        }
      });
  dscale.copy_from(totals.as_strided({width}, {1}, 0));
  dshift.copy_from(totals.as_strided({width}, {1}, width));
}

}  // namespace tg
