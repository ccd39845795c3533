// Taking and putting back entries, split by what is written: each number is the sum of the same terms in the same order
// for any number of threads.

#include <algorithm>

#include "framework/backend/cpu/cpu.h"
#include "framework/core/for_each.h"

namespace tg {

void CpuBackend::gather(const Tensor& x, int64_t outer, int64_t n, int64_t inner, const Tensor& index, Tensor& y) {
  const int64_t taken = index.count();
  const float* in = x.data<float>();
  const int32_t* at = index.data<int32_t>();
  float* out = y.data<float>();
  detail::split_range(outer * taken * inner, std::max<int64_t>(inner, 1), [&](int64_t begin, int64_t end) {
    for (int64_t to = begin; to < end; to += inner) {
      const int64_t entry = to / inner;
      std::copy_n(in + (entry / taken * n + at[entry % taken]) * inner, inner, out + to);
    }
  });
}

void CpuBackend::gather_backward(const Tensor& gradient, int64_t outer, int64_t n, int64_t inner, const Tensor& index,
                                 Tensor& dx) {
  const int64_t taken = index.count();
  const float* grad = gradient.data<float>();
  const int32_t* at = index.data<int32_t>();
  float* out = dx.data<float>();
  // A thread has a range of dx's entries, looks at all of the index for each `outer`, and adds what is its own.
  detail::split_range(outer * n * inner, std::max<int64_t>(inner, 1), [&](int64_t begin, int64_t end) {
    std::fill(out + begin, out + end, 0.0f);
    if (begin == end) return;
    for (int64_t o = begin / (n * inner); o <= (end - 1) / (n * inner); ++o)
      for (int64_t i = 0; i < taken; ++i) {
        const int64_t to = (o * n + at[i]) * inner;
        if (to < begin || to >= end) continue;
        const float* __restrict from = grad + (o * taken + i) * inner;
        float* __restrict sum = out + to;
#pragma omp simd
        for (int64_t j = 0; j < inner; ++j) sum[j] += from[j];
      }
  });
}

}  // namespace tg
