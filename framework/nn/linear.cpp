#include "framework/nn/linear.h"

#include "framework/ops/matmul.h"

namespace tg {

Linear::Linear(const Options& o)
    : options(o),
      weight{{o.out, o.in}, o.relu ? he_normal(o.in) : glorot_uniform(o.in, o.out), {}},
      bias{{o.out}, zeros_init(), {}} {}

Tensor Linear::operator()(const Tensor& x, const Context&) const {
  require(x.rank() == 2 && x.dim(1) == options.in, "{}: Linear takes [n, {}], got {}{}", path, options.in,
          x.shape().str(), x.rank() > 2 ? "; put Flatten before it" : "");
  return linear(x, weight.value, bias.value, options.relu);
}

}  // namespace tg
