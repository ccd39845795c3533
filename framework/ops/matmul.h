#pragma once
// Products of matrices. float32 and float64; a transposed view is read as it lies, without a copy.

#include "framework/core/tensor.h"

namespace tg {

// a [m, k] times b [k, n] -> [m, n].
Tensor matmul(const Tensor& a, const Tensor& b);

// y = x weight^T + bias, then max(y, 0) if relu, in one kernel. x [n, in], weight [out, in], bias [out] or undefined ->
// [n, out].
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu = false);

}  // namespace tg
