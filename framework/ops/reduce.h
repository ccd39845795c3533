#pragma once
// Reductions over axes. An empty list of axes means all of them; a negative axis counts from the end; naming one twice
// or one that is not there throws Error. float32 and float64.

#include <vector>

#include "framework/core/tensor.h"

namespace tg {

struct ReduceOptions {
  bool keep_dims = false;  // a reduced axis stays, with size 1
};

Tensor sum(const Tensor& x, const std::vector<int>& axes = {}, ReduceOptions options = {});
// Throws Error where there is nothing to average.
Tensor mean(const Tensor& x, const std::vector<int>& axes = {}, ReduceOptions options = {});
// The largest element; NaN counts as larger than any number. In a tie the gradient goes to the first in row-major
// order. Throws Error where there is no element.
Tensor max(const Tensor& x, const std::vector<int>& axes = {}, ReduceOptions options = {});
// Where along `axis` the largest element is (the first in a tie), as int32 with that axis dropped. No gradient.
Tensor argmax(const Tensor& x, int axis);

}  // namespace tg
