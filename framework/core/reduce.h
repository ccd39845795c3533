#pragma once
// reduce_sum: a sum over vectors whose bits depend on the values alone, not on threads, optimisation level or device.
//
// A fixed number of lanes inside fixed blocks, then a fixed tree over lanes and blocks. (An `omp simd reduction` would
// give other bits at -O0 and -O2.)

#include <vector>

#include "framework/core/for_each.h"

namespace tg {

inline constexpr int kReduceLanes = 16;
inline constexpr int64_t kReduceBlock = 4096;  // elements summed by one set of lanes

namespace detail {

// Adds neighbours until one is left.
inline double tree_sum(double* v, int64_t n) {
  if (n == 0) return 0;
  while (n > 1) {
    const int64_t half = n / 2;
    for (int64_t i = 0; i < half; ++i) v[i] = v[2 * i] + v[2 * i + 1];
    if (n % 2 != 0) v[half] = v[n - 1];
    n = half + n % 2;
  }
  return v[0];
}

template <class F, class... T>
double reduce_block(F f, int64_t begin, int64_t end, const T* __restrict... p) {
  double lane[kReduceLanes] = {};
  int64_t i = begin;
  for (; i + kReduceLanes <= end; i += kReduceLanes)
    for (int l = 0; l < kReduceLanes; ++l) lane[l] += static_cast<double>(f(p[i + l]...));
  for (int l = 0; i < end; ++i, ++l) lane[l] += static_cast<double>(f(p[i]...));
  return tree_sum(lane, kReduceLanes);
}

}  // namespace detail

// Sum over i of formula(first[i], rest[i]...), accumulated in double. Lengths and devices must agree, else Error.
template <class F, class T, class... U>
double reduce_sum(const F& formula, BasicSpan<T> first, BasicSpan<U>... rest) {
  static_assert(std::is_trivially_copyable_v<F>, "a formula travels to a GPU by its bytes");
  (detail::check_spans("reduce_sum", rest.size, rest.device, first.size, first.device), ...);
  require_numbers("reduce_sum", first.device);
  require(first.device.on_host(), "reduce_sum: no kernel of this formula for {}", name_of(first.device));
  const int64_t n = first.size, blocks = (n + kReduceBlock - 1) / kReduceBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  detail::split_range(n, kReduceBlock, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += kReduceBlock)
      sums[static_cast<size_t>(i / kReduceBlock)] =
          detail::reduce_block(formula, i, std::min(end, i + kReduceBlock), first.data, rest.data...);
  });
  return detail::tree_sum(sums.data(), blocks);
}

}  // namespace tg
