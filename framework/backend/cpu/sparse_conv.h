#pragma once
// Backward convolution of a gradient that is mostly zeros.
//
// Behind max-pooling only one position of each window gets a gradient, and none where relu clipped it: of LeNet's
// second convolution four values in five are zeros. Adding up only what the others contribute is a quarter of oneDNN's
// time for all (docs/performance.md).

#include "framework/backend/backend.h"

namespace tg::sparse_conv {

// True if the kernels below beat oneDNN's for this gradient [N, OH, OW, K] and weight's shape [K, R, S, C]: judged by
// the geometry and a sample of its values, not by the number of threads, which must change no bit.
bool pays(const Tensor& gradient, const Shape& weight, const ConvGeometry& geometry);

// As in Backend, without groups and dilation. Split by picture and by filter: the number of threads changes no bit.
void backward_data(const Tensor& gradient, const Tensor& weight, const ConvGeometry& geometry, Tensor& dx);
void backward_weights(const Tensor& x, const Tensor& gradient, const ConvGeometry& geometry, Tensor& dweight,
                      Tensor& dbias);

}  // namespace tg::sparse_conv
