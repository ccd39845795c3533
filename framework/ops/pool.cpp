#include "framework/ops/pool.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"
#include "framework/ops/reduce.h"

namespace tg {
namespace {

constexpr int64_t kMostKernel = 15;  // a position in the window, or kClipped, is kept in 8 bits
constexpr int64_t kMostStride = 1 << 20;

PoolGeometry checked_geometry(const Op& op, const Tensor& x, const Pool2dOptions& options) {
  detail::require_floating(op, x);
  require(x.rank() == 4 && x.count() > 0, "{}: x must be pictures [N, H, W, C], got {}", op.name(), x.shape().str());
  require(1 <= options.kernel && options.kernel <= kMostKernel && 1 <= options.stride && options.stride <= kMostStride,
          "{}: kernel {} and stride {}; a kernel is 1 to {}, a stride 1 to {}", op.name(), options.kernel,
          options.stride, kMostKernel, kMostStride);
  require(0 <= options.padding && options.padding < options.kernel,
          "{}: padding {} with a kernel of {}; it must be less, or windows would hold nothing", op.name(),
          options.padding, options.kernel);
  require(options.kernel <= x.dim(1) + 2 * options.padding && options.kernel <= x.dim(2) + 2 * options.padding,
          "{}: a kernel of {} does not fit pictures of {} x {} with padding {}; x is {}", op.name(), options.kernel,
          x.dim(1), x.dim(2), options.padding, x.shape().str());
  return {options.kernel, options.stride, options.padding};
}

Tensor empty_result(const Tensor& x, const PoolGeometry& geometry) {
  return detail::empty_like(x, {x.dim(0), geometry.out(x.dim(1)), geometry.out(x.dim(2)), x.dim(3)});
}

}  // namespace

static const Op kMaxPool2d{
    "max_pool2d", "y[n,i,j,c] = max over r,s of x[n, i stride + r - padding, j stride + s - padding, c], and 0 if relu",
    "dx = g at the first largest of each window (unless relu clipped it), else 0"};
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const PoolGeometry geometry = checked_geometry(kMaxPool2d, x, options);
  Tensor y = empty_result(x, geometry);
  Tensor index = Tensor::empty(y.shape(), DType::u8, x.device());
  backend_for(x).max_pool2d(x.as_contiguous(), geometry, options.relu, y, index);
  record(y, kMaxPool2d, {x}, [geometry, index, shape = x.shape()](Tensor g, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor dx = detail::empty_like(g, shape);
    backend_for(g).max_pool2d_backward(g, index, geometry, dx);
    sink.add(0, dx);
  });
  return y;
}

static const Op kAvgPool2d{"avg_pool2d", "y[n,i,j,c] = mean of x over the window's positions inside the picture",
                           "dx = sum over the windows that have it of g / positions of the window"};
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
  const PoolGeometry geometry = checked_geometry(kAvgPool2d, x, options);
  require(!options.relu, "avg_pool2d: relu does not commute with a mean; apply relu() to x or to the result");
  Tensor y = empty_result(x, geometry);
  backend_for(x).avg_pool2d(x.as_contiguous(), geometry, y);
  record(y, kAvgPool2d, {x}, [geometry](Tensor g, GradientSink& sink) {
    Tensor dx = sink.place(0);
    backend_for(g).avg_pool2d_backward(g, geometry, dx);
    sink.add(0, dx);
  });
  return y;
}

Tensor global_avg_pool2d(const Tensor& x) {
  require(x.rank() == 4, "global_avg_pool2d: x must be pictures [N, H, W, C], got {}", x.shape().str());
  return mean(x, {1, 2});
}

}  // namespace tg
