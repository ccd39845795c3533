#pragma once

#include "framework/nn/conv2d.h"
#include "framework/nn/norm.h"

namespace tg {

// Convolution without bias, batch normalisation, then relu unless told otherwise: the unit of networks since Ioffe and
// Szegedy 2015. The padding keeps the sides for stride 1. x [N, H, W, in] -> [N, OH, OW, out].
struct ConvNorm {
  struct Options {
    int64_t in, out, kernel;
    int64_t stride = 1;
    bool relu = true;
  };
  explicit ConvNorm(const Options& o)
      : conv({.in = o.in,
              .out = o.out,
              .kernel = o.kernel,
              .stride = o.stride,
              .padding = (o.kernel - 1) / 2,
              .bias = false}),
        norm({.channels = o.out, .relu = o.relu}) {}
  Tensor operator()(const Tensor& x, const Context& context) const { return norm(conv(x, context), context); }
  void visit(Visitor& v) {
    v("conv", conv);
    v("norm", norm);
  }

  Conv2d conv;
  BatchNorm norm;
};

}  // namespace tg
