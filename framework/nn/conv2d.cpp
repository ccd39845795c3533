#include "framework/nn/conv2d.h"

#include "framework/ops/conv.h"

namespace tg {

Conv2d::Conv2d(const Options& o)
    : options(o),
      weight{{o.out, o.kernel, o.kernel, o.in}, he_normal(o.in * o.kernel * o.kernel), {}},
      bias{{o.out}, zeros_init(), {}} {}

Tensor Conv2d::operator()(const Tensor& x, const Context&) const {
  require(x.rank() == 4 && x.dim(3) == options.in, "{}: Conv2d takes [N, H, W, {}] (channels last), got {}", path,
          options.in, x.shape().str());
  const int64_t smallest = options.kernel - 2 * options.padding;
  require(x.dim(1) >= smallest && x.dim(2) >= smallest,
          "{}: pictures of {} x {} are smaller than the kernel of {} (padding {})", path, x.dim(1), x.dim(2),
          options.kernel, options.padding);
  return conv2d(x, weight.value, bias.value,
                {.stride = options.stride, .padding = options.padding, .relu = options.relu});
}

}  // namespace tg
