#include <algorithm>

#include "framework/backend/cpu/cpu.h"
#include "framework/core/for_each.h"

namespace tg {

void CpuBackend::dropout(const Tensor& x, double rate, const Stream& stream, Tensor& y) {
  constexpr int64_t kDrawn = 1024;  // at a time, to a buffer in the cache
  const float* in = x.data<float>();
  float* out = y.data<float>();
  const float scale = static_cast<float>(1 / (1 - rate));
  detail::split_range(x.count(), kDrawn, [&](int64_t begin, int64_t end) {
    float drawn[kDrawn];
    for (int64_t at = begin; at < end; at += kDrawn) {
      const int64_t n = std::min(kDrawn, end - at);
      stream.uniforms(static_cast<uint64_t>(at), n, drawn);
      const float* __restrict from = in + at;
      float* __restrict to = out + at;
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<double>(drawn[i]) >= rate ? scale * from[i] : 0.0f;
    }
  });
}

}  // namespace tg
