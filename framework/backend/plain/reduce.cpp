#include <cmath>

#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::sum(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out) {
  visit_floating(x.dtype(), "sum", [&](auto zero) {
    using T = decltype(zero);
    const T* px = x.data<T>();
    T* po = out.data<T>();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        double total = 0;
        for (int64_t j = 0; j < n; ++j) total += static_cast<double>(px[(o * n + j) * inner + i]);
        po[o * inner + i] = static_cast<T>(total);
      }
    }
  });
}

void PlainBackend::max(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out, Tensor& index) {
  visit_floating(x.dtype(), "max", [&](auto zero) {
    using T = decltype(zero);
    const T* px = x.data<T>();
    T* po = out.data<T>();
    int32_t* pi = index.data<int32_t>();
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const T* first = px + o * n * inner + i;
        int64_t best = 0;
        for (int64_t j = 1; j < n; ++j) {
          const T v = first[j * inner], so_far = first[best * inner];
          if (v > so_far || (std::isnan(v) && !std::isnan(so_far))) best = j;
        }
        po[o * inner + i] = first[best * inner];
        pi[o * inner + i] = static_cast<int32_t>(best);
      }
    }
  });
}

void PlainBackend::max_backward(const Tensor& gradient, const Tensor& index, int64_t outer, int64_t n, int64_t inner,
                                Tensor& dx) {
  dx.fill(0);
  visit_floating(dx.dtype(), "max", [&](auto zero) {
    using T = decltype(zero);
    const T* pg = gradient.data<T>();
    const int32_t* pi = index.data<int32_t>();
    T* pd = dx.data<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) pd[(o * n + pi[o * inner + i]) * inner + i] = pg[o * inner + i];
  });
}

}  // namespace tg
