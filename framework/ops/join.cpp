#include "framework/ops/join.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"
#include "framework/ops/shape.h"

namespace tg {
namespace {

// x as [outer, n, inner] around an axis.
struct Around {
  Around(const Shape& shape, int axis) : n(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
  int64_t outer = 1, n, inner = 1;
};

}  // namespace

static const Op kConcat{"concat", "y = the parts one after the other", "dpart = the part's share of g"};
Tensor concat(const std::vector<Tensor>& parts, int axis) {
  require(!parts.empty(), "concat: nothing to put together; give it at least one tensor");
  const Tensor& first = parts.front();
  const int along = first.shape().axis(axis, "concat");
  int64_t total = 0;
  for (const Tensor& t : parts) {
    require(t.rank() == first.rank() && t.shape().with(along, 0) == first.shape().with(along, 0),
            "concat: {} and {} differ in more than axis {}", first.shape().str(), t.shape().str(), axis);
    detail::require_alike(kConcat, first, "another part", t);
    total += t.dim(along);
  }
  Tensor y = detail::empty_like(first, first.shape().with(along, total));
  std::vector<int64_t> sizes;
  int64_t at = 0;
  for (const Tensor& t : parts) {
    sizes.push_back(t.dim(along));
    detail::part(y, along, at, sizes.back()).copy_from(t);
    at += sizes.back();
  }
  record(y, kConcat, std::span<const Tensor>(parts), [along, sizes](Tensor g, GradientSink& sink) {
    int64_t begin = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sink.wants(static_cast<int>(i))) sink.add(static_cast<int>(i), detail::part(g, along, begin, sizes[i]));
      begin += sizes[i];
    }
  });
  return y;
}

std::vector<Tensor> split(const Tensor& x, int axis, const std::vector<int64_t>& sizes) {
  const int along = x.shape().axis(axis, "split");
  int64_t total = 0;
  for (const int64_t size : sizes) {
    require(0 <= size && size <= x.dim(along) - total, "split: parts of {} and more do not fit axis {} of {}",
            total + size, axis, x.shape().str());
    total += size;
  }
  require(total == x.dim(along), "split: the parts' sizes add up to {}, axis {} of {} has {}", total, axis,
          x.shape().str(), x.dim(along));
  std::vector<Tensor> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    parts.push_back(slice(x, along, begin, begin + size));
    begin += size;
  }
  return parts;
}

static const Op kPad{"pad", "y = x between entries that hold a constant", "dx = g without the padding"};
Tensor pad(const Tensor& x, int axis, int64_t before, int64_t after, double value) {
  constexpr int64_t kMostPadding = int64_t{1} << 40;  // sums of sizes stay far from overflow
  const int along = x.shape().axis(axis, "pad");
  require(0 <= before && before <= kMostPadding && 0 <= after && after <= kMostPadding,
          "pad: {} entries before and {} after; each is 0 to {}", before, after, kMostPadding);
  const int64_t size = x.dim(along);
  Tensor y = Tensor::full(x.shape().with(along, before + size + after), value, x.dtype(), x.device());
  detail::part(y, along, before, size).copy_from(x);
  record(y, kPad, {x},
         [along, before, size](Tensor g, GradientSink& sink) { sink.add(0, detail::part(g, along, before, size)); });
  return y;
}

static const Op kGather{"gather", "y[.., i, ..] = x[.., index[i], ..]",
                        "dx = sum of g at the places that were taken, else 0"};
Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  detail::require_floating(kGather, x);
  const int along = x.shape().axis(axis, "gather");
  require(index.dtype() == DType::i32 && index.rank() == 1, "gather: index must be int32 [n], got {} {}",
          name_of(index.dtype()), index.shape().str());
  require(index.device() == x.device(), "gather: x is on {}, index on {}", name_of(x.device()),
          name_of(index.device()));
  const Tensor places = index.as_contiguous();
  const int32_t* at = places.data<int32_t>();
  for (int64_t i = 0; i < places.count(); ++i)
    require(0 <= at[i] && at[i] < x.dim(along), "gather: index {} at position {}; axis {} of {} has 0 to {}", at[i], i,
            axis, x.shape().str(), x.dim(along) - 1);
  const Around around(x.shape(), along);
  Tensor y = detail::empty_like(x, x.shape().with(along, places.count()));
  backend_for(x).gather(x.as_contiguous(), around.outer, around.n, around.inner, places, y);
  record(y, kGather, {x}, [around, saved = Saved(places), shape = x.shape()](Tensor g, GradientSink& sink) {
    Tensor dx = sink.place(0);
    backend_for(g).gather_backward(g, around.outer, around.n, around.inner, saved.get(kGather.name()), dx);
    sink.add(0, dx);
  });
  return y;
}

Tensor embedding(const Tensor& weight, const Tensor& ids) {
  require(weight.rank() == 2, "embedding: weight must be [words, width], got {}", weight.shape().str());
  Shape shape = ids.shape();
  shape.push_back(weight.dim(1));
  return reshape(gather(weight, 0, ids.with_shape({ids.count()})), shape);
}

}  // namespace tg
