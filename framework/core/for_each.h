#pragma once
// for_each: one fused pass over vectors with a formula written once. See reduce.h for sums.
//
// The formula is a trivially copyable struct whose operator() takes one element of each vector: a reference where it
// writes, a value where it reads. On the CPU the loop is vectorised and split by range; a GPU kernel takes the same
// struct.

#include <omp.h>

#include <algorithm>
#include <type_traits>

#include "framework/core/span.h"

#if defined(__CUDACC__)
#define TG_HD __host__ __device__
#else
#define TG_HD
#endif

namespace tg {

// Below this many elements a second thread costs more than it saves.
inline constexpr int64_t kParallelGrain = 1 << 15;

namespace detail {

// The pointers must not overlap, except where they are equal to none: __restrict lets the loop be vectorised.
template <class F, class... T>
void for_each_range(F f, int64_t begin, int64_t end, T* __restrict... p) {
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) f(p[i]...);
}

inline void check_spans(const char* what, int64_t size, Device device, int64_t first_size, Device first_device) {
  require(size == first_size, "{}: vectors of {} and {} elements", what, first_size, size);
  require(device == first_device, "{}: vectors on {} and {}", what, name_of(first_device), name_of(device));
}

// Splits [0, n) among this thread's OpenMP threads at multiples of `unit` elements and calls body(begin, end).
template <class Body>
void split_range(int64_t n, int64_t unit, const Body& body) {
  const int64_t parts = std::min<int64_t>(omp_get_max_threads(), n / kParallelGrain);
  if (parts <= 1 || omp_in_parallel()) {
    body(int64_t{0}, n);
    return;
  }
  const int64_t step = ((n + parts - 1) / parts + unit - 1) / unit * unit;
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = std::min(n, part * step), end = std::min(n, begin + step);
    if (begin < end) body(begin, end);
  }
}

}  // namespace detail

// Calls formula(first[i], rest[i]...) for every i. All spans have one length and one device and do not overlap; throws
// Error if lengths or devices differ.
template <class F, class T, class... U>
void for_each(const F& formula, BasicSpan<T> first, BasicSpan<U>... rest) {
  static_assert(std::is_trivially_copyable_v<F>, "a formula travels to a GPU by its bytes");
  (detail::check_spans("for_each", rest.size, rest.device, first.size, first.device), ...);
  require(first.device.on_host(), "for_each: no kernel of this formula for {}", name_of(first.device));
  detail::split_range(first.size, 16, [&](int64_t begin, int64_t end) {
    detail::for_each_range(formula, begin, end, first.data, rest.data...);
  });
}

}  // namespace tg
