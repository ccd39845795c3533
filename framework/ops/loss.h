#pragma once
// Log-softmax and cross-entropy, right for logits of any size: each row's largest is subtracted first. float32 and
// float64.

#include "framework/core/tensor.h"

namespace tg {

// x [n, classes] -> log(exp(x) / sum of exp(x) over the row).
Tensor log_softmax(const Tensor& x);

struct CrossEntropyOptions {
  double label_smoothing =
      0;                  // [0, 1): so much of the wanted probability is spread over all classes (Szegedy et al. 2016)
  int32_t ignore = -100;  // rows with this label count for nothing
};

// The mean over the batch of -log_softmax(logits) at the labels, as one number (shape []). logits [n, classes], labels
// int32 [n]. Throws Error naming row and label if one is not in [0, classes), and if no row counts.
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options = {});

// The mean of (x - target)^2, as one number; shapes must be equal.
Tensor mse(const Tensor& x, const Tensor& target);

}  // namespace tg
