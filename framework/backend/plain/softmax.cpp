#include <cmath>

#include "framework/backend/plain/log_softmax.h"
#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::log_softmax(const Tensor& x, Tensor& y) {
  const int64_t n = x.dim(0), classes = x.dim(1);
  visit_floating(x.dtype(), "log_softmax", [&](auto zero) {
    using T = decltype(zero);
    const T* px = x.data<T>();
    T* py = y.data<T>();
    for (int64_t row = 0; row < n; ++row) log_softmax_row(px + row * classes, classes, py + row * classes);
  });
}

void PlainBackend::log_softmax_backward(const Tensor& gradient, const Tensor& y, Tensor& dx) {
  const int64_t n = y.dim(0), classes = y.dim(1);
  visit_floating(y.dtype(), "log_softmax", [&](auto zero) {
    using T = decltype(zero);
    for (int64_t row = 0; row < n; ++row) {
      const T *pg = gradient.data<T>() + row * classes, *py = y.data<T>() + row * classes;
      T* pd = dx.data<T>() + row * classes;
      T total = 0;
      for (int64_t c = 0; c < classes; ++c) total += pg[c];
      for (int64_t c = 0; c < classes; ++c) pd[c] = pg[c] - std::exp(py[c]) * total;
    }
  });
}

void PlainBackend::cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyGeometry& geometry,
                                 Tensor& loss, Tensor& log_probabilities) {
  log_softmax(logits, log_probabilities);
  const int64_t n = logits.dim(0), classes = logits.dim(1);
  visit_floating(logits.dtype(), "cross_entropy", [&](auto zero) {
    using T = decltype(zero);
    const T* p = std::as_const(log_probabilities).data<T>();
    const int32_t* label = labels.data<int32_t>();
    double total = 0;
    for (int64_t row = 0; row < n; ++row) {
      if (label[row] == geometry.ignore) continue;
      total -= (1 - geometry.smoothing) * static_cast<double>(p[row * classes + label[row]]);
      if (geometry.smoothing == 0) continue;
      double all = 0;
      for (int64_t c = 0; c < classes; ++c) all += static_cast<double>(p[row * classes + c]);
      total -= geometry.smoothing / static_cast<double>(classes) * all;
    }
    *loss.data<T>() = static_cast<T>(total / static_cast<double>(geometry.rows));
  });
}

void PlainBackend::cross_entropy_backward(const Tensor& gradient, const Tensor& log_probabilities, const Tensor& labels,
                                          const CrossEntropyGeometry& geometry, Tensor& dlogits) {
  const int64_t n = dlogits.dim(0), classes = dlogits.dim(1);
  visit_floating(dlogits.dtype(), "cross_entropy", [&](auto zero) {
    using T = decltype(zero);
    const T scale = *gradient.data<T>() / static_cast<T>(geometry.rows);
    const T at_label = static_cast<T>(1 - geometry.smoothing);
    const T everywhere = static_cast<T>(geometry.smoothing / static_cast<double>(classes));
    const T* p = log_probabilities.data<T>();
    const int32_t* label = labels.data<int32_t>();
    T* pd = dlogits.data<T>();
    for (int64_t row = 0; row < n; ++row)
      for (int64_t c = 0; c < classes; ++c) {
        const int64_t at = row * classes + c;
        const T wanted = (c == label[row] ? at_label : T{0}) + everywhere;
        pd[at] = label[row] == geometry.ignore ? T{0} : scale * (std::exp(p[at]) - wanted);
      }
  });
}

}  // namespace tg
