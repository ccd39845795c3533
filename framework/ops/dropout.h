#pragma once

#include "framework/core/random.h"
#include "framework/core/tensor.h"

namespace tg {

// Dropout (Srivastava et al. 2014): each element is 0 with probability `rate`, else x / (1 - rate). Element i goes by
// number i of the stream, so the mask is the same on every device and for any number of threads. rate in [0, 1).
// float32 and float64.
Tensor dropout(const Tensor& x, double rate, const Stream& stream);

}  // namespace tg
