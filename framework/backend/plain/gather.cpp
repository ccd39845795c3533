#include <algorithm>

#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::gather(const Tensor& x, int64_t outer, int64_t n, int64_t inner, const Tensor& index, Tensor& y) {
  visit_floating(x.dtype(), "gather", [&](auto zero) {
    using T = decltype(zero);
    const T* px = x.data<T>();
    const int32_t* at = index.data<int32_t>();
    T* py = y.data<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < index.count(); ++i, py += inner) std::copy_n(px + (o * n + at[i]) * inner, inner, py);
  });
}

void PlainBackend::gather_backward(const Tensor& gradient, int64_t outer, int64_t n, int64_t inner, const Tensor& index,
                                   Tensor& dx) {
  dx.fill(0);
  visit_floating(dx.dtype(), "gather", [&](auto zero) {
    using T = decltype(zero);
    const T* pg = gradient.data<T>();
    const int32_t* at = index.data<int32_t>();
    T* pd = dx.data<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < index.count(); ++i)
        for (int64_t j = 0; j < inner; ++j) pd[(o * n + at[i]) * inner + j] += *pg++;
  });
}

}  // namespace tg
