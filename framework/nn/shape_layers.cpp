#include "framework/nn/shape_layers.h"

#include "framework/ops/pool.h"
#include "framework/ops/shape.h"

namespace tg {

Tensor Flatten::operator()(const Tensor& x, const Context&) const {
  require(x.rank() >= 2, "{}: Flatten takes [N, ...], got {}", path, x.shape().str());
  return reshape(x, {x.dim(0), x.dim(0) == 0 ? 0 : x.count() / x.dim(0)});
}

Tensor Rows::operator()(const Tensor& x, const Context&) const {
  require(x.rank() == 3 || x.rank() == 4, "{}: takes sequences [N, T, F] or pictures [N, H, W, C], got {}", path,
          x.shape().str());
  return x.rank() == 3 ? x : reshape(x, {x.dim(0), x.dim(1), x.dim(2) * x.dim(3)});
}

Tensor MaxPool2d::operator()(const Tensor& x, const Context&) const {
  require(x.rank() == 4, "{}: MaxPool2d takes [N, H, W, C], got {}", path, x.shape().str());
  const int64_t stride = options.stride == 0 ? options.kernel : options.stride;
  return max_pool2d(x, {.kernel = options.kernel, .stride = stride, .padding = options.padding, .relu = options.relu});
}

Tensor AvgPool2d::operator()(const Tensor& x, const Context&) const {
  require(x.rank() == 4, "{}: AvgPool2d takes [N, H, W, C], got {}", path, x.shape().str());
  const int64_t stride = options.stride == 0 ? options.kernel : options.stride;
  return avg_pool2d(x, {.kernel = options.kernel, .stride = stride, .padding = options.padding});
}

}  // namespace tg
