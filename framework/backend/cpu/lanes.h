#pragma once
// Sums whose order is fixed, however many threads there are and whatever the compiler makes of the loop.

#include <algorithm>

#include "framework/core/for_each.h"
#include "framework/core/tensor.h"

namespace tg::cpu {

// Sum of f(i) over [0, n): 16 lanes, then their halves onto each other.
template <class F>
float lane_sum(int64_t n, const F& f) {
  constexpr int kLanes = 16;
  float lane[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int l = 0; l < kLanes; ++l) lane[l] += f(i + l);
  for (int l = 0; i < n; ++i, ++l) lane[l] += f(i);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

// Splits rows of `width` elements among threads in blocks of a fixed number of rows. body(first, last, sums) adds what
// rows [first, last) give to `sums` [count], which are zero at first; the blocks' sums, added up in order, go to
// `total` [count].
template <class Body>
void sum_over_rows(int64_t rows, int64_t width, int64_t count, float* __restrict total, const Body& body) {
  constexpr int64_t kRows = 256;
  const int64_t blocks = (rows + kRows - 1) / kRows;
  Tensor partial = Tensor::empty({blocks, count});
  float* sums = partial.data<float>();
  detail::split_range(rows * width, kRows * width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin / width; row < end / width; row += kRows) {
      float* block = sums + row / kRows * count;
      std::fill(block, block + count, 0.0f);
      body(row, std::min(row + kRows, rows), block);
    }
  });
  std::fill(total, total + count, 0.0f);
  for (int64_t b = 0; b < blocks; ++b) {
    const float* __restrict block = sums + b * count;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) total[i] += block[i];
  }
}

}  // namespace tg::cpu
