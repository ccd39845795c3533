#include "framework/nn/conv2d.h"

#include "framework/ops/conv.h"

namespace tg {
namespace {

int64_t channels_seen(const Conv2d::Options& o) {
  require(o.groups >= 1 && o.in % o.groups == 0 && o.out % o.groups == 0,
          "Conv2d: {} channels to {} do not divide into {} groups", o.in, o.out, o.groups);
  return o.in / o.groups;
}

}  // namespace

Conv2d::Conv2d(const Options& o)
    : options(o),
      weight{{o.out, o.kernel, o.kernel, channels_seen(o)}, he_normal(channels_seen(o) * o.kernel * o.kernel), {}},
      bias{{o.out}, zeros_init(), {}} {}

Tensor Conv2d::operator()(const Tensor& x, const Context&) const {
  require(x.rank() == 4 && x.dim(3) == options.in, "{}: Conv2d takes [N, H, W, {}] (channels last), got {}", path,
          options.in, x.shape().str());
  const int64_t smallest = options.dilation * (options.kernel - 1) + 1 - 2 * options.padding;
  require(x.dim(1) >= smallest && x.dim(2) >= smallest,
          "{}: pictures of {} x {} are smaller than the kernel of {} (padding {}, dilation {})", path, x.dim(1),
          x.dim(2), options.kernel, options.padding, options.dilation);
  return conv2d(x, weight.value, bias.value,
                {.stride = options.stride,
                 .padding = options.padding,
                 .dilation = options.dilation,
                 .groups = options.groups,
                 .relu = options.relu});
}

}  // namespace tg
