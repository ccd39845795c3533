// Local response normalisation, a row of channels at a time in buffers that stay in the cache.

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/backend/cpu/cpu.h"
#include "framework/core/for_each.h"

namespace tg {
namespace {

// Sums over `size` neighbours: sums[c] = v[c - before] + ... + v[c - before + size - 1], where v is 0 outside of the
// row. v is written to values(), zeros are around it.
class Windows {
 public:
  Windows(int64_t channels, int64_t size, int64_t before)
      : channels_(channels),
        size_(size),
        before_(before),
        padded_(static_cast<size_t>(channels + size), 0.0f),
        sums_(static_cast<size_t>(channels)) {}
  float* values() { return padded_.data() + before_; }
  const float* sums() {
    const float* __restrict v = padded_.data();
    float* __restrict sum = sums_.data();
    if (size_ == 5) {  // the paper's, in registers
#pragma omp simd
      for (int64_t c = 0; c < channels_; ++c) sum[c] = v[c] + v[c + 1] + v[c + 2] + v[c + 3] + v[c + 4];
      return sum;
    }
    std::fill(sums_.begin(), sums_.end(), 0.0f);
    for (int64_t j = 0; j < size_; ++j)
#pragma omp simd
      for (int64_t c = 0; c < channels_; ++c) sum[c] += v[c + j];
    return sum;
  }

 private:
  int64_t channels_, size_, before_;
  std::vector<float> padded_, sums_;
};

// n and n^-beta of a row.
class Denominators {
 public:
  Denominators(int64_t channels, const ResponseNormGeometry& g)
      : channels_(channels),
        k_(static_cast<float>(g.k)),
        factor_(static_cast<float>(g.alpha / static_cast<double>(g.size))),
        beta_(static_cast<float>(g.beta)),
        squares_(channels, g.size, g.size / 2),
        n_(static_cast<size_t>(channels)),
        power_(n_.size()) {}

  void compute(const float* __restrict x) {
    float* __restrict square = squares_.values(), * __restrict n = n_.data(), * __restrict power = power_.data();
#pragma omp simd
    for (int64_t c = 0; c < channels_; ++c) square[c] = x[c] * x[c];
    const float* __restrict sum = squares_.sums();
#pragma omp simd
    for (int64_t c = 0; c < channels_; ++c) n[c] = k_ + factor_ * sum[c];
    if (beta_ == 0.75f) {  // the paper's; roots are vectors, powers are not
#pragma omp simd
      for (int64_t c = 0; c < channels_; ++c) power[c] = 1 / (std::sqrt(n[c]) * std::sqrt(std::sqrt(n[c])));
    } else {
      for (int64_t c = 0; c < channels_; ++c) power[c] = std::pow(n[c], -beta_);
    }
  }
  const float* n() const { return n_.data(); }
  const float* power() const { return power_.data(); }

 private:
  int64_t channels_;
  float k_, factor_, beta_;
  Windows squares_;
  std::vector<float> n_, power_;
};

}  // namespace

void CpuBackend::local_response_norm(const Tensor& x, const ResponseNormGeometry& geometry, Tensor& y) {
  const int64_t channels = x.dim(-1);
  const float* in = x.data<float>();
  float* out = y.data<float>();
  detail::split_range(x.count(), channels, [&](int64_t begin, int64_t end) {
    Denominators row(channels, geometry);
    for (int64_t at = begin; at < end; at += channels) {
      row.compute(in + at);
      const float* __restrict from = in + at, * __restrict power = row.power();
      float* __restrict to = out + at;
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) to[c] = from[c] * power[c];
    }
  });
}

void CpuBackend::local_response_norm_backward(const Tensor& gradient, const Tensor& x,
                                              const ResponseNormGeometry& geometry, Tensor& dx) {
  const int64_t channels = x.dim(-1), size = geometry.size;
  const float factor = static_cast<float>(2 * geometry.alpha * geometry.beta / static_cast<double>(size));
  const float *grad = gradient.data<float>(), *in = x.data<float>();
  float* out = dx.data<float>();
  detail::split_range(x.count(), channels, [&](int64_t begin, int64_t end) {
    Denominators row(channels, geometry);
    Windows shares(channels, size, size - 1 - size / 2);  // the windows that have a channel: mirrored
    for (int64_t at = begin; at < end; at += channels) {
      row.compute(in + at);
      const float* __restrict g = grad + at, * __restrict from = in + at;
      const float* __restrict n = row.n(), * __restrict power = row.power();
      float* __restrict share = shares.values(), * __restrict to = out + at;
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) share[c] = g[c] * from[c] * power[c] / n[c];
      const float* __restrict sum = shares.sums();
#pragma omp simd
      for (int64_t c = 0; c < channels; ++c) to[c] = g[c] * power[c] - factor * from[c] * sum[c];
    }
  });
}

}  // namespace tg
