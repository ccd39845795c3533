#pragma once

#include "framework/core/tensor.h"

namespace tg {

// A layer of long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000). For
// each step of each sequence, from h and c of the step before (zero before the first):
//
//   i, f, g, o = weight x_t + recurrent_weight h_{t-1} + bias, H each, in this order
//   c_t = sigmoid(f) c_{t-1} + sigmoid(i) tanh(g)
//   h_t = sigmoid(o) tanh(c_t)
//
// x [N, T, I], weight [4 H, I], recurrent_weight [4 H, H], bias [4 H] -> all h, [N, T, H]. `lengths` int32 [N] says how
// many steps each sequence has, 1 to T; undefined: all have T. What stands past a sequence's end in x does not matter,
// h is zero there. float32 and float64; keeps 5 N T H numbers for the derivative, beside x and the result.
//
// The order of the gates is also that of oneDNN and PyTorch (whose two biases add up to this one).
//
// Throws Error if shapes do not fit, if there is no sequence, step or feature, or naming the sequence whose length is
// out of range.
Tensor lstm(const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight, const Tensor& bias,
            const Tensor& lengths = {});

}  // namespace tg
