#pragma once
// map: element-wise work with NumPy's broadcasting, by a formula that returns one value.

#include <array>
#include <type_traits>
#include <utility>

#include "framework/core/for_each.h"
#include "framework/core/strided.h"
#include "framework/core/tensor.h"

namespace tg {
namespace detail {

// The broadcast shape of operands of one dtype and device, on the host or on meta; throws Error naming `what` if they
// are not.
Shape map_shape(const char* what, std::initializer_list<const Tensor*> operands);

template <class F, class Out, class... In>
void map_dense(F f, int64_t begin, int64_t end, Out* __restrict out, const In* __restrict... in) {
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) out[i] = f(in[i]...);
}

template <class F, class Out, class... In, size_t... I>
void map_strided(F f, int64_t n, const std::array<int64_t, sizeof...(In)>& step, std::index_sequence<I...>,
                 Out* __restrict out, const In*... in) {
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i * step[I]]...);
}

template <class F, class Out, class... In, size_t... I>
void map_loop(const F& f, const StridedLoop<1 + sizeof...(In)>& loop, std::index_sequence<I...>, Out* out,
              const In*... in) {
  const int64_t n = loop.inner();
  const std::array<int64_t, sizeof...(In)> step{loop.inner_stride(static_cast<int>(I) + 1)...};
  const bool dense = ((step[I] == 1) && ...);
  if (loop.rows() == 1 && dense) {  // one long row is split inside
    split_range(n, 16, [&](int64_t begin, int64_t end) { map_dense(f, begin, end, out, in...); });
    return;
  }
  split_range(loop.rows() * n, n, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin / n; row < end / n; ++row) {
      const auto at = loop.offsets(row);
      if (dense) {
        map_dense(f, 0, n, out + at[0], (in + at[I + 1])...);
      } else {
        map_strided(f, n, step, std::make_index_sequence<sizeof...(In)>(), out + at[0], (in + at[I + 1])...);
      }
    }
  });
}

}  // namespace detail

// A new tensor with f(operand[i]...) of the broadcast shape. T is the operands' element type, the result has the type
// that f returns. Throws Error (naming `what`) if shapes do not broadcast, or if dtypes or devices differ.
template <class T, class F, class... Operand>
Tensor map(const char* what, const F& f, const Tensor& first, const Operand&... rest) {
  static_assert(std::is_trivially_copyable_v<F>, "a formula travels to a GPU by its bytes");
  using Out = std::decay_t<decltype(f(std::declval<T>(), (static_cast<void>(rest), std::declval<T>())...))>;
  const Shape shape = detail::map_shape(what, {&first, &rest...});
  Tensor out = Tensor::empty(shape, dtype_of<Out>, first.device());
  if (out.count() == 0 || !out.device().has_memory()) return out;
  constexpr size_t kOperands = 1 + sizeof...(rest);
  const StridedLoop<1 + kOperands> loop(shape, {out.strides(), broadcast_strides(first.shape(), first.strides(), shape),
                                                broadcast_strides(rest.shape(), rest.strides(), shape)...});
  detail::map_loop(f, loop, std::make_index_sequence<kOperands>(), out.data<Out>(), first.data<T>(),
                   rest.template data<T>()...);
  return out;
}

}  // namespace tg
