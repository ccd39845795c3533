#pragma once
// Tensors put together and taken apart along an axis. Differentiable; a negative axis counts from the end.

#include <vector>

#include "framework/core/tensor.h"

namespace tg {

// The tensors one after the other along `axis`; all other dimensions, types and devices must agree. Throws Error for an
// empty list.
Tensor concat(const std::vector<Tensor>& parts, int axis);

// Parts of these sizes along `axis`, as views; the sizes must add up to the dimension.
std::vector<Tensor> split(const Tensor& x, int axis, const std::vector<int64_t>& sizes);

// x with `before` and `after` more entries along `axis`, which hold `value`.
Tensor pad(const Tensor& x, int axis, int64_t before, int64_t after, double value = 0);

// Entries index[0], index[1], ... of x along `axis`, in this order; one may be named several times, and its gradients
// add up. index int32 [n]. Throws Error naming the first one that is not there.
Tensor gather(const Tensor& x, int axis, const Tensor& index);

// The rows of weight [words, width] that `ids` (int32, any shape) names: ids' shape with `width` behind it.
Tensor embedding(const Tensor& weight, const Tensor& ids);

}  // namespace tg
