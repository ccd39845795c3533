#include "framework/ops/reduce.h"

#include <array>

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

// A reduction as the backends see it: [outer, n, inner] -> [outer, inner]. Axes that do not lie side by side are moved
// to the end first, in their order, so that "the first" keeps its meaning.
struct Reduction {
  int64_t outer = 1, n = 1, inner = 1;
  Shape kept;                    // without the reduced axes
  Shape kept_dims;               // with size 1 for each of them
  bool moved = false;            // whether axes have to be moved
  Shape moved_shape;             // of x with the reduced axes last
  std::vector<int> permutation;  // axis i of moved_shape is axis permutation[i] of x

  Reduction(const Op& op, const Shape& x, const std::vector<int>& axes) {
    std::array<bool, kMaxRank> reduced{};
    for (const int given : axes) {
      bool& here = reduced[static_cast<size_t>(x.axis(given, op.name()))];
      require(!here, "{}: axis {} of shape {} is named twice", op.name(), given, x.str());
      here = true;
    }
    if (axes.empty()) reduced.fill(true);

    int changes = 0;  // between runs of reduced and kept axes; those of size 1 belong to any run
    bool any = false, last = false;
    for (int i = 0; i < x.rank(); ++i) {
      const bool here = reduced[static_cast<size_t>(i)];
      kept_dims.push_back(here ? 1 : x[i]);
      if (!here) kept.push_back(x[i]);
      if (here) n *= x[i];
      if (x[i] == 1) continue;
      if (here && any && !last) ++changes;
      any = any || here;
      last = here;
      if (!here) (any ? inner : outer) *= x[i];
    }
    moved = changes > 0;
    if (!moved) return;
    outer *= inner;
    inner = 1;
    for (const bool wanted : {false, true})
      for (int i = 0; i < x.rank(); ++i)
        if (reduced[static_cast<size_t>(i)] == wanted) permutation.push_back(i);
    for (const int axis : permutation) moved_shape.push_back(x[axis]);
  }

  const Shape& result(ReduceOptions options) const { return options.keep_dims ? kept_dims : kept; }

  // x, contiguous, with the axes where the backend wants them.
  Tensor arrange(const Tensor& x) const {
    if (!moved) return x.as_contiguous();
    Strides strides{};
    for (size_t i = 0; i < permutation.size(); ++i) strides[i] = x.strides()[static_cast<size_t>(permutation[i])];
    return x.as_strided(moved_shape, strides, x.offset()).as_contiguous();
  }
  // The other way round: a view in the order of x's axes of a contiguous tensor in the arranged order.
  Tensor arrange_back(const Tensor& arranged, const Shape& x) const {
    if (!moved) return arranged.with_shape(x);
    const Strides by_moved = row_major(moved_shape);
    Strides strides{};
    for (size_t i = 0; i < permutation.size(); ++i) strides[static_cast<size_t>(permutation[i])] = by_moved[i];
    return arranged.as_strided(x, strides, arranged.offset());
  }
};

struct DivideBy {
  double n;
  template <class T>
  TG_HD T operator()(T x) const {
    return x / static_cast<T>(n);
  }
};

Tensor summed(const Tensor& x, const Reduction& r, const Shape& shape) {
  Tensor y = detail::empty_like(x, shape);
  if (y.count() != 0) backend_for(x).sum(r.arrange(x), r.outer, r.n, r.inner, y);
  return y;
}

// A view of the gradient [kept_dims] that repeats it along the reduced axes.
Tensor spread(const Tensor& gradient, const Shape& kept_dims, const Shape& x) {
  const Tensor g = gradient.with_shape(kept_dims);
  return g.as_strided(x, broadcast_strides(kept_dims, g.strides(), x), g.offset());
}

}  // namespace

static const Op kSum{"sum", "y = sum of x over the axes", "dx = g, repeated along the axes"};
Tensor sum(const Tensor& x, const std::vector<int>& axes, ReduceOptions options) {
  detail::require_floating(kSum, x);
  const Reduction r(kSum, x.shape(), axes);
  Tensor y = summed(x, r, r.result(options));
  record(y, kSum, {x}, [kept_dims = r.kept_dims, shape = x.shape()](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, spread(g, kept_dims, shape));
  });
  return y;
}

static const Op kMean{"mean", "y = sum of x over the axes / n", "dx = g / n, repeated along the axes"};
Tensor mean(const Tensor& x, const std::vector<int>& axes, ReduceOptions options) {
  detail::require_floating(kMean, x);
  const Reduction r(kMean, x.shape(), axes);
  require(r.n > 0, "mean: no elements to average in shape {}", x.shape().str());
  const DivideBy by_n{static_cast<double>(r.n)};
  Tensor y = detail::compute(kMean, by_n, summed(x, r, r.result(options)));
  record(y, kMean, {x}, [by_n, kept_dims = r.kept_dims, shape = x.shape()](Tensor g, GradientSink& sink) {
    if (sink.wants(0)) sink.add(0, spread(detail::compute(kMean, by_n, g), kept_dims, shape));
  });
  return y;
}

static const Op kMax{"max", "y = max of x over the axes", "dx = g at the first largest, else 0"};
Tensor max(const Tensor& x, const std::vector<int>& axes, ReduceOptions options) {
  detail::require_floating(kMax, x);
  const Reduction r(kMax, x.shape(), axes);
  require(r.n > 0, "max: no elements to compare in shape {}", x.shape().str());
  require(r.n <= INT32_MAX, "max: {} elements along the axes of shape {}, at most {} can be numbered", r.n,
          x.shape().str(), INT32_MAX);
  Tensor y = detail::empty_like(x, r.result(options));
  Tensor index = Tensor::empty(y.shape(), DType::i32, x.device());
  if (y.count() != 0) backend_for(x).max(r.arrange(x), r.outer, r.n, r.inner, y, index);
  record(y, kMax, {x}, [r, index, shape = x.shape()](Tensor g, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor dx = detail::empty_like(g, r.moved ? r.moved_shape : shape);
    if (dx.count() != 0) backend_for(g).max_backward(g, index, r.outer, r.n, r.inner, dx);
    sink.add(0, r.arrange_back(dx, shape));
  });
  return y;
}

Tensor argmax(const Tensor& x, int axis) {
  require(is_floating(x.dtype()), "argmax: needs float32 or float64, got {} {}", name_of(x.dtype()), x.shape().str());
  const int along = x.shape().axis(axis, "argmax");
  require(x.dim(along) > 0, "argmax: no elements to compare along axis {} of shape {}", axis, x.shape().str());
  const Reduction r(kMax, x.shape(), {along});
  Tensor largest = detail::empty_like(x, r.kept);
  Tensor index = Tensor::empty(r.kept, DType::i32, x.device());
  if (index.count() != 0) backend_for(x).max(r.arrange(x), r.outer, r.n, r.inner, largest, index);
  return index;
}

namespace detail {

Tensor sum_to(const Tensor& gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  if (gradient.count() == shape.count()) return gradient.with_shape(shape);  // only axes of size 1 were added
  const int lead = gradient.rank() - shape.rank();
  std::vector<int> axes;
  for (int i = 0; i < gradient.rank(); ++i)
    if (i < lead || (shape[i - lead] == 1 && gradient.shape()[i] != 1)) axes.push_back(i);
  return summed(gradient, Reduction(kSum, gradient.shape(), axes), shape);
}

}  // namespace detail

}  // namespace tg
