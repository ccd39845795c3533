#include "framework/ops/conv.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

constexpr int64_t kMostStep = 1 << 20;  // of stride and padding: keeps sums of sizes far from overflow

}  // namespace

static const Op kConv2d{
    "conv2d",
    "y[n,i,j,k] = bias[k] + sum over r,s,c of x[n, i stride + r dilation - padding, j stride + s dilation - padding, "
    "c] weight[k,r,s,c], and max(y, 0) if relu",
    "g is 0 where y = 0 if relu; dx = g spread by weight, dweight = g times x at each offset, dbias = sum of g"};
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  detail::require_floating(kConv2d, x);
  require(x.rank() == 4, "conv2d: x must be pictures [N, H, W, C], got {}", x.shape().str());
  const int64_t groups = options.groups;
  require(groups >= 1 && x.dim(3) % groups == 0, "conv2d: {} channels do not divide into {} groups; x is {}", x.dim(3),
          groups, x.shape().str());
  require(weight.rank() == 4 && weight.dim(3) == x.dim(3) / groups && weight.dim(0) % groups == 0,
          "conv2d: x is {}, so weight must be [K, R, S, {}] (channels last) with K a multiple of {} groups, got {}",
          x.shape().str(), x.dim(3) / groups, groups, weight.shape().str());
  detail::require_alike(kConv2d, x, "weight", weight);
  if (bias.defined()) {
    require(bias.shape() == Shape{weight.dim(0)}, "conv2d: weight is {}, so bias must be [{}], got {}",
            weight.shape().str(), weight.dim(0), bias.shape().str());
    detail::require_alike(kConv2d, x, "bias", bias);
  }
  require(x.count() > 0 && weight.count() > 0, "conv2d: x {} or weight {} has no elements", x.shape().str(),
          weight.shape().str());
  require(1 <= options.stride && options.stride <= kMostStep && 0 <= options.padding && options.padding <= kMostStep &&
              1 <= options.dilation && options.dilation <= kMostStep,
          "conv2d: stride {}, padding {} and dilation {}; stride and dilation are 1 to {}, padding 0 to {}",
          options.stride, options.padding, options.dilation, kMostStep, kMostStep);
  const int64_t rows = options.dilation * (weight.dim(1) - 1) + 1, columns = options.dilation * (weight.dim(2) - 1) + 1;
  require(
      rows <= x.dim(1) + 2 * options.padding && columns <= x.dim(2) + 2 * options.padding,
      "conv2d: a kernel of {} x {} does not fit pictures of {} x {} with padding {}; x is {}, weight {}, dilation {}",
      rows, columns, x.dim(1), x.dim(2), options.padding, x.shape().str(), weight.shape().str(), options.dilation);

  const ConvGeometry geometry{options.stride, options.padding, options.dilation, options.groups};
  const Tensor pictures = x.as_contiguous(), kernel = weight.as_contiguous();
  Tensor y = detail::empty_like(
      x, {x.dim(0), geometry.out(x.dim(1), weight.dim(1)), geometry.out(x.dim(2), weight.dim(2)), weight.dim(0)});
  backend_for(x).conv2d(pictures, kernel, bias.defined() ? bias.as_contiguous() : bias, geometry, options.relu, y);
  const bool for_weights = detail::carries_gradient(weight) || detail::carries_gradient(bias);
  record(y, kConv2d, {x, weight, bias},
         [geometry, saved_x = detail::save_if(for_weights, pictures),
          saved_weight = detail::save_if(detail::carries_gradient(x), kernel),
          saved_y = detail::save_if(options.relu, y)](Tensor g, GradientSink& sink) mutable {
           if (saved_y) g = detail::through_relu(std::move(g), saved_y->get(kConv2d.name()));
           Backend& backend = backend_for(g);
           if (sink.wants(1)) {
             Tensor dweight = sink.place(1), dbias = sink.wants(2) ? sink.place(2) : Tensor();
             backend.conv2d_backward_weights(saved_x->get(kConv2d.name()), g, geometry, dweight, dbias);
             sink.add(1, dweight);
             if (dbias.defined()) sink.add(2, dbias);
           } else if (sink.wants(2)) {
             Tensor dbias = sink.place(2);
             backend.sum(g, 1, g.count() / g.dim(3), g.dim(3), dbias);
             sink.add(2, dbias);
           }
           saved_x.reset();  // before dx is made, which may then take its place in memory
           if (sink.wants(0)) {
             Tensor dx = sink.place(0);
             backend.conv2d_backward_data(g, saved_weight->get(kConv2d.name()), geometry, dx);
             sink.add(0, dx);
           }
         });
  return y;
}

}  // namespace tg
