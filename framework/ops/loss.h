#pragma once
// Log-softmax and cross-entropy, right for logits of any size: each row's largest is subtracted first. float32 and
// float64.

#include "framework/core/tensor.h"

namespace tg {

// x [n, classes] -> log(exp(x) / sum of exp(x) over the row).
Tensor log_softmax(const Tensor& x);

// The mean over the batch of -log_softmax(logits) at the labels, as one number (shape []). logits [n, classes], labels
// int32 [n]. Throws Error naming row and label if one is not in [0, classes).
Tensor cross_entropy(const Tensor& logits, const Tensor& labels);

}  // namespace tg
