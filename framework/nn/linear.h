#pragma once

#include "framework/nn/module.h"

namespace tg {

// y = x W^T + b, then relu if asked. x [n, in] -> y [n, out]; weight [out, in], bias [out].
// He initialisation before a relu, Glorot otherwise; bias zero.
struct Linear {
  struct Options {
    int64_t in, out;
    bool relu = false;
  };
  explicit Linear(const Options& options);
  // Throws Error with this layer's path if x is not [n, in].
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor& v) {
    v("weight", weight);
    v("bias", bias);
  }

  Options options;
  Parameter weight, bias;
  std::string path = "Linear";
};

}  // namespace tg
