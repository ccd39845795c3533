#include "framework/ops/shape.h"

#include "framework/ops/internal.h"

namespace tg {

static const Op kReshape{"reshape", "y = the same elements in row-major order", "dx = g in x's shape"};
Tensor reshape(const Tensor& x, const Shape& shape) {
  require(shape.count() == x.count(), "reshape: {} has {} elements, {} has {}; the numbers must agree", x.shape().str(),
          x.count(), shape.str(), shape.count());
  Tensor y = x.with_shape(shape);
  record(y, kReshape, {x}, [shape = x.shape()](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, g.with_shape(shape));
  });
  return y;
}

Tensor reshape(const Tensor& x, std::initializer_list<int64_t> dims) {
  int open = -1;  // the axis that takes what is left over
  Shape shape;
  for (const int64_t dim : dims) {
    require(dim >= -1, "reshape: dimension {} of {}; a dimension is 0, more, or -1 for what is left over", dim,
            x.shape().str());
    require(dim != -1 || open == -1, "reshape: more than one -1 for {}; only one dimension can be left open",
            x.shape().str());
    if (dim == -1) open = shape.rank();
    shape.push_back(dim == -1 ? 1 : dim);
  }
  if (open == -1) return reshape(x, shape);
  const int64_t rest = shape.count();
  require(rest > 0 && x.count() % rest == 0,
          "reshape: {} has {} elements, which the other dimensions' product {} does not divide", x.shape().str(),
          x.count(), rest);
  return reshape(x, shape.with(open, x.count() / rest));
}

namespace {

// Axis i of the view is axis permutation[i] of x.
Tensor permuted(const Tensor& x, const std::vector<int>& permutation) {
  Shape shape;
  Strides strides{};
  for (size_t i = 0; i < permutation.size(); ++i) {
    shape.push_back(x.shape()[permutation[i]]);
    strides[i] = x.strides()[static_cast<size_t>(permutation[i])];
  }
  return x.as_strided(shape, strides, x.offset());
}

}  // namespace

static const Op kTranspose{"transpose", "y[i_p(0), i_p(1), ...] = x[i_0, i_1, ...]", "dx = g, permuted back"};
Tensor transpose(const Tensor& x, const std::vector<int>& permutation) {
  const size_t rank = static_cast<size_t>(x.rank());
  require(permutation.size() == rank,
          "transpose: {} axes named for shape {}; all {} are to be named in their new order", permutation.size(),
          x.shape().str(), rank);
  std::vector<int> forward, back(rank, -1);
  for (const int given : permutation) {
    const int axis = x.shape().axis(given, "transpose");
    require(back[static_cast<size_t>(axis)] == -1, "transpose: axis {} of shape {} is named twice", given,
            x.shape().str());
    back[static_cast<size_t>(axis)] = static_cast<int>(forward.size());
    forward.push_back(axis);
  }
  Tensor y = permuted(x, forward);
  record(y, kTranspose, {x}, [back](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, permuted(g, back));
  });
  return y;
}

Tensor transpose2d(const Tensor& x) {
  require(x.rank() == 2, "transpose2d: takes a matrix, got {}; transpose() takes any rank", x.shape().str());
  return transpose(x, {1, 0});
}

static const Op kSlice{"slice", "y = elements [begin, end) along one axis", "dx = g in [begin, end), else 0"};
Tensor slice(const Tensor& x, int axis, int64_t begin, int64_t end) {
  const int along = x.shape().axis(axis, "slice");
  require(0 <= begin && begin <= end && end <= x.dim(along), "slice: [{}, {}) of axis {} of shape {}; it has [0, {})",
          begin, end, axis, x.shape().str(), x.dim(along));
  Tensor y = detail::part(x, along, begin, end - begin);
  record(y, kSlice, {x}, [shape = x.shape(), along, begin, end](Tensor g, GradientSink& sink) {
    if (!sink.wants(0)) return;
    const Tensor dx = Tensor::zeros(shape, g.dtype(), g.device());
    detail::part(dx, along, begin, end - begin).copy_from(g);
    sink.add(0, dx);
  });
  return y;
}

static const Op kToType{"to_type", "y = the same values in another type", "dx = g in x's type"};
Tensor to(const Tensor& x, DType dtype) {
  if (dtype == x.dtype()) return x;
  require(is_floating(dtype) || !recording({x}),
          "to: x {} carries a gradient, which {} cannot; convert x.detach(), or to float32 or float64", x.shape().str(),
          name_of(dtype));
  Tensor y = x.to(dtype);
  record(y, kToType, {x}, [from = x.dtype()](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, g.to(from));
  });
  return y;
}

static const Op kToDevice{"to_device", "y = the same values on another device", "dx = g on x's device"};
Tensor to(const Tensor& x, Device device) {
  if (device == x.device()) return x;
  Tensor y = x.to(device);
  record(y, kToDevice, {x}, [from = x.device()](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, g.to(from));
  });
  return y;
}

}  // namespace tg
