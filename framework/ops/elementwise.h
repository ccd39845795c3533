#pragma once
// Element-wise operations with NumPy's broadcasting.
//
// All take float32 or float64 (comparisons: any type) and throw Error if types or devices differ or shapes do not
// broadcast. A gradient that broadcasting had spread is summed back to its operand's shape.

#include "framework/core/tensor.h"

namespace tg {

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);

// A number on one side is rounded to the tensor's type first, and has no gradient.
Tensor add(const Tensor& a, double b);
Tensor subtract(const Tensor& a, double b);
Tensor subtract(double a, const Tensor& b);
Tensor multiply(const Tensor& a, double b);
Tensor divide(const Tensor& a, double b);
Tensor divide(double a, const Tensor& b);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, b); }
inline Tensor operator+(double a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator-(const Tensor& a, double b) { return subtract(a, b); }
inline Tensor operator-(double a, const Tensor& b) { return subtract(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return multiply(a, b); }
inline Tensor operator*(const Tensor& a, double b) { return multiply(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return multiply(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b); }
inline Tensor operator/(const Tensor& a, double b) { return divide(a, b); }
inline Tensor operator/(double a, const Tensor& b) { return divide(a, b); }

Tensor negate(const Tensor& x);
inline Tensor operator-(const Tensor& x) { return negate(x); }

// x^exponent. A negative base with a fractional exponent gives NaN, zero with a negative one infinity. The derivative
// for exponent 0 is 0 everywhere.
Tensor pow(const Tensor& x, double exponent);
Tensor relu(const Tensor& x);                       // max(x, 0); NaN stays NaN; the derivative at 0 is 0
Tensor add_relu(const Tensor& a, const Tensor& b);  // relu(a + b) in one pass, for equal shapes
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))

// 1 where it holds and 0 elsewhere, as uint8. They have no gradient.
Tensor equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);

// Against a number, which is compared in double precision with each element.
Tensor equal(const Tensor& a, double b);
Tensor less(const Tensor& a, double b);
Tensor greater(const Tensor& a, double b);
Tensor less_equal(const Tensor& a, double b);
Tensor greater_equal(const Tensor& a, double b);

}  // namespace tg
