#pragma once

#include "framework/core/tensor.h"

namespace tg {

// Connectionist temporal classification (Graves et al. 2006): how unlikely the steps' classes make each label, where
// nobody says which step belongs to which entry. logits [N, T, classes], before the softmax, class 0 is the blank;
// labels int32 [N, L], each entry 1 to classes - 1; lengths int32 [N] say how many steps and entries of a sample count,
// the rest is padding that nothing looks at. A label may be empty.
//
// Returns the mean over the batch of -log p(label | logits), as one number (shape []). It is not divided by lengths, as
// other libraries' means may be: a sample weighs what its probability says. float32 and float64; keeps
// N T (classes + 2 (2 L + 1)) numbers for the derivative.
//
// Throws Error naming the sample if an input length is not 1 to T, a label length not 0 to L, an entry no class or the
// blank, or if a label cannot be said in so few steps: a step for each entry, and one for the blank between two equal
// ones.
Tensor ctc_loss(const Tensor& logits, const Tensor& labels, const Tensor& input_lengths, const Tensor& label_lengths);

}  // namespace tg
