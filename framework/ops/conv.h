#pragma once
// 2-D convolution of pictures [N, H, W, C] (channels last). float32 and float64.

#include "framework/core/tensor.h"

namespace tg {

struct Conv2dOptions {
  int64_t stride = 1;
  int64_t padding = 0;  // zeros on every side
  bool relu = false;    // max(y, 0) in the same kernel
};

// x [N, H, W, C], weight [K, R, S, C], bias [K] or undefined -> y [N, OH, OW, K], by the formula
//
//   y[n,i,j,k] = bias[k] + sum over r,s,c of x[n, i stride + r - padding, j stride + s - padding, c] weight[k,r,s,c]
//
// OH = (H + 2 padding - R) / stride + 1, rounded down. Throws Error if a shape does not fit or the kernel is larger
// than the padded picture.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options = {});

}  // namespace tg
