#pragma once
// 2-D convolution of pictures [N, H, W, C] (channels last). float32 and float64.

#include "framework/core/tensor.h"

namespace tg {

struct Conv2dOptions {
  int64_t stride = 1;
  int64_t padding = 0;   // zeros on every side
  int64_t dilation = 1;  // from one position of the kernel to the next
  int64_t groups = 1;    // channels and filters are split into so many groups that do not see each other
  bool relu = false;     // max(y, 0) in the same kernel
};

// x [N, H, W, C], weight [K, R, S, C / groups], bias [K] or undefined -> y [N, OH, OW, K], by the formula
//
//   y[n,i,j,k] = bias[k] + sum over r,s,c of x[n, i stride + r dilation - padding, ..., c] weight[k,r,s,c]
//
// c counts within filter k's group of channels. OH = (H + 2 padding - dilation (R - 1) - 1) / stride + 1, rounded down.
// Throws Error if a shape does not fit or the kernel is larger than the padded picture.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options = {});

}  // namespace tg
