#pragma once
// Normalisation layers. Scale starts at 1, shift at 0.

#include "framework/nn/module.h"
#include "framework/ops/norm.h"

namespace tg {

// Batch normalisation of x [..., channels], then relu if asked: by the batch's statistics in training, by the running
// ones otherwise. Running statistics move by context.buffer_rate in a training pass; the variance they keep is the
// unbiased one.
struct BatchNorm {
  struct Options {
    int64_t channels;
    bool relu = false;
    double epsilon = 1e-5;
  };
  explicit BatchNorm(const Options& options);
  // Throws Error with this layer's path if x has other channels, or one value a channel in training.
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor& v) {
    v("scale", scale);
    v("shift", shift);
    v("mean", mean);
    v("variance", variance);
  }

  Options options;
  Parameter scale, shift;
  Buffer mean, variance;
  std::string path = "BatchNorm";
};

// Layer normalisation of the last axis of x [..., channels].
struct LayerNorm {
  struct Options {
    int64_t channels;
    double epsilon = 1e-5;
  };
  explicit LayerNorm(const Options& options);
  Tensor operator()(const Tensor& x, const Context& context) const;
  void visit(Visitor& v) {
    v("scale", scale);
    v("shift", shift);
  }

  Options options;
  Parameter scale, shift;
  std::string path = "LayerNorm";
};

// Local response normalisation across the channels of x [..., C].
struct LocalResponseNorm {
  LocalResponseNormOptions options;
  Tensor operator()(const Tensor& x, const Context&) const { return local_response_norm(x, options); }
  void visit(Visitor&) {}
};

}  // namespace tg
