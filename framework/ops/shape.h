#pragma once
// Other views and other types of the same numbers. Differentiable; the result shares memory with x where it can.

#include <initializer_list>
#include <vector>

#include "framework/core/tensor.h"

namespace tg {

// The elements in row-major order under another shape with as many of them. One dimension may be -1: what is left over.
Tensor reshape(const Tensor& x, std::initializer_list<int64_t> dims);
Tensor reshape(const Tensor& x, const Shape& shape);

// Axis i of the result is axis permutation[i] of x. A view.
Tensor transpose(const Tensor& x, const std::vector<int>& permutation);
// [m, n] -> [n, m]. A view.
Tensor transpose2d(const Tensor& x);

// Elements [begin, end) along `axis`, which may be negative to count from the end. A view.
Tensor slice(const Tensor& x, int axis, int64_t begin, int64_t end);

// The values converted to another type; a gradient flows between float32 and float64. x itself if it has the type.
Tensor to(const Tensor& x, DType dtype);
// The values on another device. x itself if it is there.
Tensor to(const Tensor& x, Device device);

}  // namespace tg
