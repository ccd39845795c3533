#include <algorithm>

#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::dropout(const Tensor& x, double rate, const Stream& stream, Tensor& y) {
  visit_floating(x.dtype(), "dropout", [&](auto zero) {
    using T = decltype(zero);
    const T* px = x.data<T>();
    T* py = y.data<T>();
    const T scale = static_cast<T>(1 / (1 - rate));
    const int64_t n = x.count();
    for (int64_t i = 0; i < n; ++i)
      py[i] = static_cast<double>(stream.uniform(static_cast<uint64_t>(i))) >= rate ? scale * px[i] : T{0};
  });
}

}  // namespace tg
