#include "framework/backend/plain/plain.h"

namespace tg {
namespace {

// Calls body(x, w, y) for every position of the output and every position of the kernel that meets the picture there:
// x is the offset of the pixel's C channels, w the number r * S + s of the kernel's position, y the offset of the
// output's K channels.
template <class Body>
void each_tap(const Shape& x, const Shape& weight, const Shape& y, const ConvGeometry& geometry, const Body& body) {
  for (int64_t n = 0; n < y[0]; ++n) {
    for (int64_t i = 0; i < y[1]; ++i) {
      for (int64_t j = 0; j < y[2]; ++j) {
        for (int64_t r = 0; r < weight[1]; ++r) {
          for (int64_t s = 0; s < weight[2]; ++s) {
            const int64_t row = i * geometry.stride + r * geometry.dilation - geometry.padding;
            const int64_t column = j * geometry.stride + s * geometry.dilation - geometry.padding;
            if (row < 0 || row >= x[1] || column < 0 || column >= x[2]) continue;
            body(((n * x[1] + row) * x[2] + column) * x[3], r * weight[2] + s, ((n * y[1] + i) * y[2] + j) * y[3]);
          }
        }
      }
    }
  }
}

}  // namespace

void PlainBackend::conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvGeometry& geometry,
                          bool relu, Tensor& y) {
  const int64_t channels = weight.dim(3), filters = y.dim(3), taps = weight.dim(1) * weight.dim(2);
  const int64_t per_group = filters / geometry.groups;
  visit_floating(x.dtype(), "conv2d", [&](auto zero) {
    using T = decltype(zero);
    const T *px = x.data<T>(), *pw = weight.data<T>(), *pb = bias.defined() ? bias.data<T>() : nullptr;
    T* py = y.data<T>();
    const int64_t count = y.count();
    for (int64_t i = 0; i < count; ++i) py[i] = pb != nullptr ? pb[i % filters] : T{0};
    each_tap(x.shape(), weight.shape(), y.shape(), geometry, [&](int64_t at_x, int64_t tap, int64_t at_y) {
      for (int64_t k = 0; k < filters; ++k) {
        const T* w = pw + (k * taps + tap) * channels;
        const T* seen = px + at_x + k / per_group * channels;
        T dot = 0;
        for (int64_t c = 0; c < channels; ++c) dot += seen[c] * w[c];
        py[at_y + k] += dot;
      }
    });
    if (!relu) return;
    for (int64_t i = 0; i < count; ++i)
      if (py[i] < 0) py[i] = 0;
  });
}

void PlainBackend::conv2d_backward_data(const Tensor& gradient, const Tensor& weight, const ConvGeometry& geometry,
                                        Tensor& dx) {
  const int64_t channels = weight.dim(3), filters = gradient.dim(3), taps = weight.dim(1) * weight.dim(2);
  const int64_t per_group = filters / geometry.groups;
  dx.fill(0);
  visit_floating(dx.dtype(), "conv2d", [&](auto zero) {
    using T = decltype(zero);
    const T *pg = gradient.data<T>(), *pw = weight.data<T>();
    T* pd = dx.data<T>();
    each_tap(dx.shape(), weight.shape(), gradient.shape(), geometry, [&](int64_t at_x, int64_t tap, int64_t at_y) {
      for (int64_t k = 0; k < filters; ++k) {
        const T* w = pw + (k * taps + tap) * channels;
        T* seen = pd + at_x + k / per_group * channels;
        for (int64_t c = 0; c < channels; ++c) seen[c] += pg[at_y + k] * w[c];
      }
    });
  });
}

void PlainBackend::conv2d_backward_weights(const Tensor& x, const Tensor& gradient, const ConvGeometry& geometry,
                                           Tensor& dweight, Tensor& dbias) {
  const int64_t channels = dweight.dim(3), filters = gradient.dim(3), taps = dweight.dim(1) * dweight.dim(2);
  const int64_t per_group = filters / geometry.groups;
  dweight.fill(0);
  visit_floating(x.dtype(), "conv2d", [&](auto zero) {
    using T = decltype(zero);
    const T *px = x.data<T>(), *pg = gradient.data<T>();
    T* pd = dweight.data<T>();
    each_tap(x.shape(), dweight.shape(), gradient.shape(), geometry, [&](int64_t at_x, int64_t tap, int64_t at_y) {
      for (int64_t k = 0; k < filters; ++k) {
        T* w = pd + (k * taps + tap) * channels;
        const T* seen = px + at_x + k / per_group * channels;
        for (int64_t c = 0; c < channels; ++c) w[c] += pg[at_y + k] * seen[c];
      }
    });
  });
  if (dbias.defined()) sum(gradient, 1, gradient.count() / filters, filters, dbias);
}

}  // namespace tg
