#pragma once
// What the operations' files share: checks, saving what a derivative needs, and undoing broadcasting.

#include <optional>

#include "framework/autograd/graph.h"
#include "framework/backend/elementwise.h"

namespace tg::detail {

// Throws Error naming the operation unless x holds float32 or float64.
inline void require_floating(const Op& op, const Tensor& x) {
  require(is_floating(x.dtype()), "{}: needs float32 or float64, got {} {}; convert it with to(x, DType::f32)",
          op.name(), name_of(x.dtype()), x.shape().str());
}

// Throws Error unless `other`, called `what` in the message, has x's type and device.
inline void require_alike(const Op& op, const Tensor& x, const char* what, const Tensor& other) {
  require(other.dtype() == x.dtype() && other.device() == x.device(),
          "{}: x is {} {} on {}, {} is {} {} on {}; bring one to the other's type and device with to()", op.name(),
          name_of(x.dtype()), x.shape().str(), name_of(x.device()), what, name_of(other.dtype()), other.shape().str(),
          name_of(other.device()));
}

// Contents undefined; of x's type, on x's device.
inline Tensor empty_like(const Tensor& x, const Shape& shape) { return Tensor::empty(shape, x.dtype(), x.device()); }
inline Tensor empty_like(const Tensor& x) { return empty_like(x, x.shape()); }

// A new tensor with formula(first[i], rest[i]...), broadcast; see map().
template <class F, class... Operand>
Tensor compute(const Op& op, const F& formula, const Tensor& first, const Operand&... rest) {
  return visit_floating(first.dtype(), op.name(),
                        [&](auto zero) { return map<decltype(zero)>(op.name(), formula, first, rest...); });
}

inline bool carries_gradient(const Tensor& t) { return t.defined() && t.node() != nullptr; }

// For a tensor that the derivative needs only if a gradient is wanted for some other one.
inline std::optional<Saved> save_if(bool needed, const Tensor& t) {
  if (!needed) return std::nullopt;
  return Saved(t);
}

// Entries [begin, begin + count) along an axis, as a view without history.
inline Tensor part(const Tensor& x, int axis, int64_t begin, int64_t count) {
  return x.as_strided(x.shape().with(axis, count), x.strides(),
                      x.offset() + begin * x.strides()[static_cast<size_t>(axis)]);
}

// Adds up a gradient over what broadcasting had repeated, down to `shape`.
Tensor sum_to(const Tensor& gradient, const Shape& shape);

// The gradient before max(x, 0), from y = max(x, 0); in place if nobody else holds `gradient`.
Tensor through_relu(Tensor&& gradient, const Tensor& y);

}  // namespace tg::detail
