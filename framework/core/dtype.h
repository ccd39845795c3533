#pragma once
// Element types: float32 for training, float64 for checks, int32 labels, uint8 pictures.

#include <cstdint>

#include "framework/core/error.h"

namespace tg {

enum class DType { f32, f64, i32, u8 };

inline const char* name_of(DType t) {
  switch (t) {
    case DType::f32: return "float32";
    case DType::f64: return "float64";
    case DType::i32: return "int32";
    case DType::u8: return "uint8";
  }
  return "?";
}

// Bytes of one element.
inline int64_t size_of(DType t) {
  switch (t) {
    case DType::f32: return 4;
    case DType::f64: return 8;
    case DType::i32: return 4;
    case DType::u8: return 1;
  }
  return 0;
}

inline bool is_floating(DType t) { return t == DType::f32 || t == DType::f64; }

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::u8;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

// Calls f with a zero of the C++ type behind `t`: visit_dtype(t, [&](auto zero) { using T = decltype(zero); ... }).
template <class F>
auto visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i32: return f(int32_t{});
    case DType::u8: break;
  }
  return f(uint8_t{});
}

// The same for float32 and float64 alone; `what` names the caller in the error for any other type.
template <class F>
auto visit_floating(DType t, const char* what, F&& f) {
  if (t == DType::f32) return f(float{});
  require(t == DType::f64, "{}: needs float32 or float64, got {}", what, name_of(t));
  return f(double{});
}

}  // namespace tg
