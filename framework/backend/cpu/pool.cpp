// Pooling of channels-last pictures: the channels of one position lie side by side, so the loops over them are
// vectors.

#include <algorithm>
#include <limits>

#include "framework/backend/cpu/cpu.h"
#include "framework/core/for_each.h"

namespace tg {
namespace {

struct Window {
  int64_t row0, row1, column0, column1;  // input positions [row0, row1) x [column0, column1)
  int64_t top, left;                     // where the kernel's first position would lie; may be outside
};

Window window_at(const PoolGeometry& g, int64_t rows, int64_t columns, int64_t out_row, int64_t out_column) {
  const int64_t top = out_row * g.stride - g.padding, left = out_column * g.stride - g.padding;
  return {std::max<int64_t>(top, 0),
          std::min(top + g.kernel, rows),
          std::max<int64_t>(left, 0),
          std::min(left + g.kernel, columns),
          top,
          left};
}

// One output position, kLanes channels from `in`, the window's values in registers.
template <int kLanes>
void largest(const float* in, const Window& at, int64_t kernel, int64_t row_step, int64_t column_step, bool relu,
             float* out, uint8_t* where) {
  const auto position_of = [&](int64_t i, int64_t j) {
    return static_cast<int32_t>((i - at.top) * kernel + (j - at.left));
  };
  float best[kLanes];
  int32_t best_at[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    best[l] = -std::numeric_limits<float>::infinity();
    best_at[l] = position_of(at.row0, at.column0);
  }
  for (int64_t i = at.row0; i < at.row1; ++i)
    for (int64_t j = at.column0; j < at.column1; ++j) {
      const float* v = in + i * row_step + j * column_step;
      const int32_t position = position_of(i, j);
      for (int l = 0; l < kLanes; ++l) {
        const bool larger = !(v[l] <= best[l]) && best[l] == best[l];  // a NaN wins and stays
        best[l] = larger ? v[l] : best[l];
        best_at[l] = larger ? position : best_at[l];
      }
    }
  for (int l = 0; l < kLanes; ++l) {
    const bool clipped = relu && best[l] <= 0;
    out[l] = clipped ? 0.0f : best[l];
    where[l] = static_cast<uint8_t>(clipped ? int32_t{kClipped} : best_at[l]);
  }
}

}  // namespace

void CpuBackend::max_pool2d(const Tensor& x, const PoolGeometry& g, bool relu, Tensor& y, Tensor& index) {
  constexpr int kLanes = 16;
  const int64_t h = x.dim(1), w = x.dim(2), c = x.dim(3), oh = y.dim(1), ow = y.dim(2);
  const float* in = x.data<float>();
  float* out = y.data<float>();
  uint8_t* where = index.data<uint8_t>();
  detail::split_range(y.count(), ow * c, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin / (ow * c); row < end / (ow * c); ++row) {
      const float* picture = in + row / oh * h * w * c;
      for (int64_t ocolumn = 0; ocolumn < ow; ++ocolumn) {
        const Window at = window_at(g, h, w, row % oh, ocolumn);
        const int64_t to = (row * ow + ocolumn) * c;
        int64_t k = 0;
        for (; k + kLanes <= c; k += kLanes)
          largest<kLanes>(picture + k, at, g.kernel, w * c, c, relu, out + to + k, where + to + k);
        for (; k < c; ++k) largest<1>(picture + k, at, g.kernel, w * c, c, relu, out + to + k, where + to + k);
      }
    }
  });
}

void CpuBackend::max_pool2d_backward(const Tensor& gradient, const Tensor& index, const PoolGeometry& g, Tensor& dx) {
  const int64_t h = dx.dim(1), w = dx.dim(2), c = dx.dim(3), oh = gradient.dim(1), ow = gradient.dim(2);
  const float* from = gradient.data<float>();
  const uint8_t* where = index.data<uint8_t>();
  float* out = dx.data<float>();
  const int64_t picture = h * w * c;
  // Windows that do not overlap write each position once; others add. Positions that no window covers are zero in both
  // cases.
  const bool overlap = g.stride < g.kernel;
  const bool covered = !overlap && g.stride == g.kernel && g.padding == 0 && oh * g.kernel == h && ow * g.kernel == w;
  detail::split_range(dx.count(), std::max<int64_t>(picture, 1), [&](int64_t begin, int64_t end) {
    if (!covered) std::fill(out + begin, out + end, 0.0f);
    for (int64_t n = begin / picture; n < end / picture; ++n)
      for (int64_t orow = 0; orow < oh; ++orow)
        for (int64_t ocolumn = 0; ocolumn < ow; ++ocolumn) {
          const Window at = window_at(g, h, w, orow, ocolumn);
          const int64_t source = ((n * oh + orow) * ow + ocolumn) * c;
          const float* __restrict grad = from + source;
          const uint8_t* __restrict best_at = where + source;
          for (int64_t i = at.row0; i < at.row1; ++i)
            for (int64_t j = at.column0; j < at.column1; ++j) {
              float* __restrict d = out + ((n * h + i) * w + j) * c;
              const auto position = static_cast<uint8_t>((i - at.top) * g.kernel + (j - at.left));
              if (overlap) {
#pragma omp simd
                for (int64_t k = 0; k < c; ++k) d[k] += best_at[k] == position ? grad[k] : 0.0f;
              } else {
#pragma omp simd
                for (int64_t k = 0; k < c; ++k) d[k] = best_at[k] == position ? grad[k] : 0.0f;
              }
            }
        }
  });
}

void CpuBackend::avg_pool2d(const Tensor& x, const PoolGeometry& g, Tensor& y) {
  const int64_t h = x.dim(1), w = x.dim(2), c = x.dim(3), oh = y.dim(1), ow = y.dim(2);
  const float* in = x.data<float>();
  float* out = y.data<float>();
  detail::split_range(y.count(), ow * c, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin / (ow * c); row < end / (ow * c); ++row)
      for (int64_t ocolumn = 0; ocolumn < ow; ++ocolumn) {
        const Window at = window_at(g, h, w, row % oh, ocolumn);
        const float share = 1.0f / static_cast<float>((at.row1 - at.row0) * (at.column1 - at.column0));
        float* __restrict to = out + (row * ow + ocolumn) * c;
        std::fill(to, to + c, 0.0f);
        for (int64_t i = at.row0; i < at.row1; ++i)
          for (int64_t j = at.column0; j < at.column1; ++j) {
            const float* __restrict v = in + ((row / oh * h + i) * w + j) * c;
#pragma omp simd
            for (int64_t k = 0; k < c; ++k) to[k] += share * v[k];
          }
      }
  });
}

void CpuBackend::avg_pool2d_backward(const Tensor& gradient, const PoolGeometry& g, Tensor& dx) {
  const int64_t h = dx.dim(1), w = dx.dim(2), c = dx.dim(3), oh = gradient.dim(1), ow = gradient.dim(2);
  const float* from = gradient.data<float>();
  float* out = dx.data<float>();
  const int64_t picture = h * w * c;
  detail::split_range(dx.count(), std::max<int64_t>(picture, 1), [&](int64_t begin, int64_t end) {
    std::fill(out + begin, out + end, 0.0f);
    for (int64_t n = begin / picture; n < end / picture; ++n)
      for (int64_t orow = 0; orow < oh; ++orow)
        for (int64_t ocolumn = 0; ocolumn < ow; ++ocolumn) {
          const Window at = window_at(g, h, w, orow, ocolumn);
          const float share = 1.0f / static_cast<float>((at.row1 - at.row0) * (at.column1 - at.column0));
          const float* __restrict grad = from + ((n * oh + orow) * ow + ocolumn) * c;
          for (int64_t i = at.row0; i < at.row1; ++i)
            for (int64_t j = at.column0; j < at.column1; ++j) {
              float* __restrict d = out + ((n * h + i) * w + j) * c;
#pragma omp simd
              for (int64_t k = 0; k < c; ++k) d[k] += share * grad[k];
            }
        }
  });
}

}  // namespace tg
