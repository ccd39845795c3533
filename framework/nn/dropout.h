#pragma once

#include "framework/nn/module.h"

namespace tg {

// Dropout (Srivastava et al. 2014): in training each element is 0 with probability `rate`, else x / (1 - rate);
// otherwise the identity. What is dropped is drawn from context.stream by this layer's path, so visit() must list it:
// two layers without a path would drop the same places.
struct Dropout {
  struct Options {
    double rate = 0.5;  // [0, 1)
  };
  Dropout() = default;
  // Throws Error for a rate outside [0, 1).
  explicit Dropout(const Options& options);
  // Throws Error in training if no visit() has given this layer a path.
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor&) {}

  Options options;
  std::string path;
};

}  // namespace tg
