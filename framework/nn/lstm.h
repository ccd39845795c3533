#pragma once

#include "framework/nn/module.h"

namespace tg {

// A layer of LSTM (ops/lstm.h): x [N, T, in] -> all its states h, [N, T, hidden]. Sequences end where context.lengths
// says, and their states are zero from there.
//
// weight [4 hidden, in], recurrent_weight [4 hidden, hidden], bias [4 hidden]. Weights start uniform in +-1 /
// sqrt(hidden), as in PyTorch; the bias is 1 for the forget gates, so that a layer remembers from the start (Gers et
// al. 2000; Jozefowicz et al. 2015 found it to matter more than other changes to the cell), else 0.
struct Lstm {
  struct Options {
    int64_t in, hidden;
  };
  explicit Lstm(const Options& options);
  // Throws Error with this layer's path if x is not [N, T, in].
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor& v) {
    v("weight", weight);
    v("recurrent_weight", recurrent_weight);
    v("bias", bias);
  }

  Options options;
  Parameter weight, recurrent_weight, bias;
  std::string path = "Lstm";
};

// The state of each sequence after its own last step: h [N, T, H], lengths as lstm() has taken them -> [N, H].
Tensor last_steps(const Tensor& h, const Tensor& lengths);

}  // namespace tg
