#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::relu_backward(const Tensor& gradient, const Tensor& y, Tensor& g) {
  visit_floating(y.dtype(), "relu", [&](auto zero) {
    using T = decltype(zero);
    const T *from = gradient.data<T>(), *py = y.data<T>();
    T* to = g.data<T>();
    const int64_t count = y.count();
    for (int64_t i = 0; i < count; ++i) to[i] = py[i] > 0 ? from[i] : T{0};
  });
}

}  // namespace tg
