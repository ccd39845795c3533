#include "framework/ops/pool.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

constexpr int64_t kMostKernel = 15;  // a position in the window, or kClipped, is kept in 8 bits
constexpr int64_t kMostStride = 1 << 20;

}  // namespace

// y[n,i,j,c] = max over r,s of x[n, i stride + r - padding, j stride + s - padding, c], and 0 if relu
static const Op kMaxPool2d{"max_pool2d", "dx = g at the first largest of each window (unless relu clipped it), else 0"};
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  detail::require_floating(kMaxPool2d, x);
  require(x.rank() == 4 && x.count() > 0, "max_pool2d: x must be pictures [N, H, W, C], got {}", x.shape().str());
  require(1 <= options.kernel && options.kernel <= kMostKernel && 1 <= options.stride && options.stride <= kMostStride,
          "max_pool2d: kernel {} and stride {}; a kernel is 1 to {}, a stride 1 to {}", options.kernel, options.stride,
          kMostKernel, kMostStride);
  require(0 <= options.padding && options.padding < options.kernel,
          "max_pool2d: padding {} with a kernel of {}; it must be less, or windows would hold nothing", options.padding,
          options.kernel);
  require(options.kernel <= x.dim(1) + 2 * options.padding && options.kernel <= x.dim(2) + 2 * options.padding,
          "max_pool2d: a kernel of {} does not fit pictures of {} x {} with padding {}; x is {}", options.kernel,
          x.dim(1), x.dim(2), options.padding, x.shape().str());

  const PoolGeometry geometry{options.kernel, options.stride, options.padding};
  Tensor y = detail::empty_like(x, {x.dim(0), geometry.out(x.dim(1)), geometry.out(x.dim(2)), x.dim(3)});
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

}  // namespace tg
