#include <algorithm>
#include <cmath>

#include "framework/backend/cpu/cpu.h"
#include "framework/core/for_each.h"

namespace tg {
namespace {

void mask(int64_t n, const float* __restrict drawn, float least, float scale, const float* __restrict x,
          float* __restrict y) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float kept = scale * x[i];
    y[i] = drawn[i] >= least ? kept : 0.0f;
  }
}

}  // namespace

void CpuBackend::dropout(const Tensor& x, double rate, const Stream& stream, Tensor& y) {
  constexpr int64_t kDrawn = 1024;  // at a time, to a buffer in the cache
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const float scale = static_cast<float>(1 / (1 - rate)), rounded = static_cast<float>(rate);
  // The smallest float that is not below the rate: against it a drawn number compares as against the rate itself.
  const float least = static_cast<double>(rounded) < rate ? std::nextafter(rounded, 2.0f) : rounded;
  detail::split_range(x.count(), kDrawn, [&](int64_t begin, int64_t end) {
    float drawn[kDrawn];
    for (int64_t at = begin; at < end; at += kDrawn) {
      const int64_t n = std::min(kDrawn, end - at);
      stream.uniforms(static_cast<uint64_t>(at), n, drawn);
      mask(n, drawn, least, scale, in + at, out + at);
    }
  });
}

}  // namespace tg
