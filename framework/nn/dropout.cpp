#include "framework/nn/dropout.h"

#include "framework/ops/dropout.h"

namespace tg {

Dropout::Dropout(const Options& o) : options(o) {
  require(o.rate >= 0 && o.rate < 1, "Dropout: a rate of {}; it is the share of zeros, 0 or more and less than 1",
          o.rate);
}

Tensor Dropout::operator()(const Tensor& x, const Context& context) const {
  if (!context.training || options.rate == 0) return x;
  require(!path.empty(), "Dropout: it has no path, by which its random numbers are drawn; list it in visit()");
  return dropout(x, options.rate, context.stream.split(path));
}

}  // namespace tg
