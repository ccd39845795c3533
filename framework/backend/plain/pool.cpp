#include <algorithm>
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

namespace {

// Calls body(x, y, positions) for every window and every pixel of it that lies inside the picture: x and y are the
// offsets of the pixel's and the output's channels, `positions` says how many pixels the window has inside.
template <class Body>
void each_pixel(const Shape& x, const Shape& y, const PoolGeometry& geometry, const Body& body) {
  for (int64_t n = 0; n < y[0]; ++n) {
    for (int64_t i = 0; i < y[1]; ++i) {
      for (int64_t j = 0; j < y[2]; ++j) {
        const int64_t top = i * geometry.stride - geometry.padding, left = j * geometry.stride - geometry.padding;
        const int64_t row0 = std::max<int64_t>(top, 0), row1 = std::min(top + geometry.kernel, x[1]);
        const int64_t column0 = std::max<int64_t>(left, 0), column1 = std::min(left + geometry.kernel, x[2]);
        const int64_t positions = (row1 - row0) * (column1 - column0);
        for (int64_t row = row0; row < row1; ++row)
          for (int64_t column = column0; column < column1; ++column)
            body(((n * x[1] + row) * x[2] + column) * x[3], ((n * y[1] + i) * y[2] + j) * y[3], positions);
      }
    }
  }
}

}  // namespace

void PlainBackend::avg_pool2d(const Tensor& x, const PoolGeometry& geometry, Tensor& y) {
  y.fill(0);
  visit_floating(x.dtype(), "avg_pool2d", [&](auto zero) {
    using T = decltype(zero);
    const T* px = x.data<T>();
    T* py = y.data<T>();
    each_pixel(x.shape(), y.shape(), geometry, [&](int64_t at_x, int64_t at_y, int64_t positions) {
      const T share = T{1} / static_cast<T>(positions);
      for (int64_t c = 0; c < x.dim(3); ++c) py[at_y + c] += share * px[at_x + c];
    });
  });
}

void PlainBackend::avg_pool2d_backward(const Tensor& gradient, const PoolGeometry& geometry, Tensor& dx) {
  dx.fill(0);
  visit_floating(dx.dtype(), "avg_pool2d", [&](auto zero) {
    using T = decltype(zero);
    const T* pg = gradient.data<T>();
    T* pd = dx.data<T>();
    each_pixel(dx.shape(), gradient.shape(), geometry, [&](int64_t at_x, int64_t at_y, int64_t positions) {
      const T share = T{1} / static_cast<T>(positions);
      for (int64_t c = 0; c < dx.dim(3); ++c) pd[at_x + c] += share * pg[at_y + c];
    });
  });
}

}  // namespace tg
