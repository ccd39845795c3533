// Batch normalisation by given statistics: one pass over memory, forward and backward.

#include <cmath>
#include <vector>

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/cpu/lanes.h"

namespace tg {
namespace {

// 1 / sqrt(variance + epsilon) of each channel.
std::vector<float> roots(const Tensor& variance, const BatchNormGeometry& geometry) {
  const View v = variance.view();
  std::vector<float> root(v.begin(), v.end());
  for (float& r : root) r = 1 / std::sqrt(r + static_cast<float>(geometry.epsilon));
  return root;
}

template <bool kRelu>
void normalise(int64_t begin, int64_t end, int64_t channels, const float* x, const float* scale, const float* shift,
               const float* mean, const float* root, float* y) {
  for (int64_t at = begin; at < end; at += channels) {
    const float* __restrict from = x + at;
    float* __restrict to = y + at;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const float v = scale[c] * ((from[c] - mean[c]) * root[c]) + shift[c];
      to[c] = kRelu && v < 0 ? 0.0f : v;
    }
  }
}

template <bool kRelu>
void differentiate(int64_t begin, int64_t end, int64_t channels, const float* gradient, const float* x, const float* y,
                   const float* scale, const float* mean, const float* root, float* dx, float* __restrict dscale,
                   float* __restrict dshift) {
  for (int64_t at = begin; at < end; at += channels) {
    const float* __restrict from = gradient + at, * __restrict in = x + at, * __restrict out = kRelu ? y + at : nullptr;
    float* __restrict to = dx + at;
#pragma omp simd
    for (int64_t c = 0; c < channels; ++c) {
      const float g = kRelu && !(out[c] > 0) ? 0.0f : from[c];
      dshift[c] += g;
      dscale[c] += g * ((in[c] - mean[c]) * root[c]);
      to[c] = g * (scale[c] * root[c]);
    }
  }
}

}  // namespace

void CpuBackend::batch_norm_fixed(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& mean,
                                  const Tensor& variance, const BatchNormGeometry& geometry, Tensor& y) {
  const int64_t channels = scale.count();
  const std::vector<float> root = roots(variance, geometry);
  const float *in = x.data<float>(), *factor = scale.data<float>(), *offset = shift.data<float>(),
              *middle = mean.data<float>();
  float* out = y.data<float>();
  const auto rows = geometry.relu ? normalise<true> : normalise<false>;
  detail::split_range(x.count(), channels, [&](int64_t begin, int64_t end) {
    rows(begin, end, channels, in, factor, offset, middle, root.data(), out);
  });
}

void CpuBackend::batch_norm_fixed_backward(const Tensor& gradient, const Tensor& x, const Tensor& y,
                                           const Tensor& scale, const Tensor& mean, const Tensor& variance,
                                           const BatchNormGeometry& geometry, Tensor& dx, Tensor& dscale,
                                           Tensor& dshift) {
  const int64_t channels = scale.count();
  const std::vector<float> root = roots(variance, geometry);
  const float *grad = gradient.data<float>(), *in = x.data<float>(), *out = geometry.relu ? y.data<float>() : nullptr,
              *factor = scale.data<float>(), *middle = mean.data<float>();
  float* to = dx.data<float>();
  const auto rows = geometry.relu ? differentiate<true> : differentiate<false>;
  Tensor totals = Tensor::empty({2, channels});
  cpu::sum_over_rows(x.count() / channels, channels, 2 * channels, totals.data<float>(),
                     [&](int64_t first, int64_t last, float* sums) {
                       rows(first * channels, last * channels, channels, grad, in, out, factor, middle, root.data(), to,
                            sums, sums + channels);
                     });
  dscale.copy_from(totals.as_strided({channels}, {1}, 0));
  dshift.copy_from(totals.as_strided({channels}, {1}, channels));
}

}  // namespace tg
