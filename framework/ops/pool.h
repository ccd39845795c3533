#pragma once
// Pooling of pictures [N, H, W, C] (channels last). float32 and float64.

#include "framework/core/tensor.h"

namespace tg {

struct Pool2dOptions {
  int64_t kernel = 2;   // rows and columns of the window, at most 15
  int64_t stride = 2;   // from one window to the next
  int64_t padding = 0;  // on every side, less than `kernel`; positions there count for nothing
  bool relu = false;    // max(y, 0) in the same kernel: the same as relu before pooling, on fewer numbers
};

// The largest of each window, [N, H, W, C] -> [N, OH, OW, C] with OH = (H + 2 padding - kernel) / stride + 1, rounded
// down. In a tie the gradient goes to the first in row-major order.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options = {});

// The mean of each window's positions inside the picture; shapes as max_pool2d. It has no relu.
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options = {});

// The mean of each channel over the whole picture, [N, H, W, C] -> [N, C].
Tensor global_avg_pool2d(const Tensor& x);

}  // namespace tg
