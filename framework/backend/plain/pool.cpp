#include <cmath>

#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::max_pool2d(const Tensor& x, const PoolGeometry& geometry, bool relu, Tensor& y, Tensor& index) {
  const int64_t height = x.dim(1), width = x.dim(2), channels = x.dim(3), kernel = geometry.kernel;
  visit_floating(x.dtype(), "max_pool2d", [&](auto zero) {
    using T = decltype(zero);
    const T* px = x.data<T>();
    T* py = y.data<T>();
    uint8_t* pi = index.data<uint8_t>();
    int64_t at = 0;
    for (int64_t n = 0; n < y.dim(0); ++n) {
      for (int64_t i = 0; i < y.dim(1); ++i) {
        for (int64_t j = 0; j < y.dim(2); ++j) {
          for (int64_t c = 0; c < channels; ++c, ++at) {
            bool any = false;
            for (int64_t r = 0; r < kernel; ++r) {
              for (int64_t s = 0; s < kernel; ++s) {
                const int64_t row = i * geometry.stride + r - geometry.padding;
                const int64_t column = j * geometry.stride + s - geometry.padding;
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                const T v = px[((n * height + row) * width + column) * channels + c];
                if (any && !(v > py[at]) && !(std::isnan(v) && !std::isnan(py[at]))) continue;
                any = true;
                py[at] = v;
                pi[at] = static_cast<uint8_t>(r * kernel + s);
              }
            }
            if (relu && py[at] <= 0) {
              py[at] = 0;
              pi[at] = kClipped;
            }
          }
        }
      }
    }
  });
}

void PlainBackend::max_pool2d_backward(const Tensor& gradient, const Tensor& index, const PoolGeometry& geometry,
                                       Tensor& dx) {
  const int64_t height = dx.dim(1), width = dx.dim(2), channels = dx.dim(3);
  dx.fill(0);
  visit_floating(dx.dtype(), "max_pool2d", [&](auto zero) {
    using T = decltype(zero);
    const T* pg = gradient.data<T>();
    const uint8_t* pi = index.data<uint8_t>();
    T* pd = dx.data<T>();
    int64_t at = 0;
    for (int64_t n = 0; n < gradient.dim(0); ++n) {
      for (int64_t i = 0; i < gradient.dim(1); ++i) {
        for (int64_t j = 0; j < gradient.dim(2); ++j) {
          for (int64_t c = 0; c < channels; ++c, ++at) {
            if (pi[at] == kClipped) continue;
            const int64_t row = i * geometry.stride + pi[at] / geometry.kernel - geometry.padding;
            const int64_t column = j * geometry.stride + pi[at] % geometry.kernel - geometry.padding;
            pd[((n * height + row) * width + column) * channels + c] += pg[at];
          }
        }
      }
    }
  });
}

}  // namespace tg
