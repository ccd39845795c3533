#pragma once
// for_each: one fused pass over vectors with a formula written once. See reduce.h for sums.
//
// The formula is a trivially copyable struct whose operator() takes one element of each vector: a reference where it
// writes, a value where it reads. On the CPU the loop is vectorised and split by range; a GPU kernel takes the same
// struct.

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

// The vectors must not overlap: __restrict lets the loop be vectorised.
template <class F, class... T>
void for_each_range(F f, int64_t begin, int64_t end, T* __restrict... p) {
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) f(p[i]...);
}

inline void check_spans(const char* what, int64_t size, Device device, int64_t first_size, Device first_device) {
  require(size == first_size, "{}: vectors of {} and {} elements", what, first_size, size);
  require(device == first_device, "{}: vectors on {} and {}", what, name_of(first_device), name_of(device));
}

// A call of body(begin, end) that any thread may make. Not a template of the body all the way down: the parallel loop
// is compiled once.
struct RangeBody {
  const void* body;
  void (*call)(const void* body, int64_t begin, int64_t end);
};
void split_range(int64_t n, int64_t unit, RangeBody body);

// Splits [0, n) among this thread's OpenMP threads at multiples of `unit` elements and calls body(begin, end).
template <class Body>
void split_range(int64_t n, int64_t unit, const Body& body) {
  split_range(n, unit, RangeBody{&body, [](const void* b, int64_t begin, int64_t end) {
                                   (*static_cast<const Body*>(b))(begin, end);
                                 }});
}

}  // namespace detail

// Calls formula(first[i], rest[i]...) for every i. All spans have one length and one device and do not overlap; throws
// Error if lengths or devices differ. On meta there is nothing to do.
template <class F, class T, class... U>
void for_each(const F& formula, BasicSpan<T> first, BasicSpan<U>... rest) {
  static_assert(std::is_trivially_copyable_v<F>, "a formula travels to a GPU by its bytes");
  (detail::check_spans("for_each", rest.size, rest.device, first.size, first.device), ...);
  if (!first.device.has_memory()) return;
  require(first.device.on_host(), "for_each: no kernel of this formula for {}", name_of(first.device));
  detail::split_range(first.size, 16, [&](int64_t begin, int64_t end) {
    detail::for_each_range(formula, begin, end, first.data, rest.data...);
  });
}

}  // namespace tg
