// Sums over one axis, split by output or by the fixed blocks of reduce_sum: the number of threads changes no bit.

#include "framework/core/reduce.h"

#include "framework/backend/cpu/cpu.h"

namespace tg {
namespace {

struct Identity {
  TG_HD float operator()(float x) const { return x; }
};

// Adds n rows of `inner` elements into out.
void sum_rows(const float* x, int64_t n, int64_t inner, int64_t begin, int64_t end, float* __restrict out) {
  for (int64_t i = begin; i < end; ++i) out[i] = 0;
  for (int64_t row = 0; row < n; ++row) {
    const float* __restrict r = x + row * inner;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) out[i] += r[i];
  }
}

}  // namespace

void CpuBackend::sum(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out) {
  const float* in = x.data<float>();
  float* to = out.data<float>();
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o) to[o] = static_cast<float>(reduce_sum(Identity{}, View(in + o * n, n)));
    return;
  }
  for (int64_t o = 0; o < outer; ++o)
    detail::split_range(inner, 16, [&](int64_t begin, int64_t end) {
      sum_rows(in + o * n * inner, n, inner, begin, end, to + o * inner);
    });
}

}  // namespace tg
