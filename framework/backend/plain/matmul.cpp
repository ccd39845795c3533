#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::matmul(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& out) {
  const int64_t m = out.dim(0), n = out.dim(1), k = a.dim(transpose_a ? 0 : 1);
  visit_floating(a.dtype(), "matmul", [&](auto zero) {
    using T = decltype(zero);
    const T *pa = a.data<T>(), *pb = b.data<T>();
    T* po = out.data<T>();
    const auto at_a = [&](int64_t i, int64_t l) { return pa[transpose_a ? l * m + i : i * k + l]; };
    const auto at_b = [&](int64_t l, int64_t j) { return pb[transpose_b ? j * k + l : l * n + j]; };
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double total = 0;
        for (int64_t l = 0; l < k; ++l) total += static_cast<double>(at_a(i, l)) * static_cast<double>(at_b(l, j));
        po[i * n + j] = static_cast<T>(total);
      }
    }
  });
}

void PlainBackend::linear(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu, Tensor& y) {
  matmul(x, false, weight, true, y);
  const int64_t n = y.dim(0), out = y.dim(1);
  visit_floating(y.dtype(), "linear", [&](auto zero) {
    using T = decltype(zero);
    const T* pb = bias.defined() ? bias.data<T>() : nullptr;
    T* py = y.data<T>();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < out; ++j) {
        T& v = py[i * out + j];
        if (pb != nullptr) v += pb[j];
        if (relu && v < 0) v = 0;
      }
    }
  });
}

}  // namespace tg
