#pragma once

#include "framework/nn/module.h"

namespace tg {

// 2-D convolution, then relu if asked. x [N, H, W, in] -> y [N, OH, OW, out]; weight [out, kernel, kernel, in /
// groups], bias [out]. He initialisation, for the relu that follows here or after pooling; bias zero.
struct Conv2d {
  struct Options {
    int64_t in, out, kernel;
    int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
    bool bias = true;  // none where batch normalisation follows, which would take it away
    bool relu = false;
  };
  explicit Conv2d(const Options& options);
  // Throws Error with this layer's path if x has not `in` channels or is smaller than the kernel.
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor& v) {
    v("weight", weight);
    if (options.bias) v("bias", bias);
  }

  Options options;
  Parameter weight, bias;
  std::string path = "Conv2d";
};

}  // namespace tg
