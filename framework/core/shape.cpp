#include "framework/core/shape.h"

#include <algorithm>

#include "framework/core/error.h"

namespace tg {

Shape::Shape(std::initializer_list<int64_t> dims) : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const int64_t> dims) {
  for (int64_t d : dims) push_back(d);
}

void Shape::push_back(int64_t dim) {
  require(rank_ < kMaxRank, "shape: more than {} dimensions", kMaxRank);
  require(dim >= 0, "shape: dimension {} is negative ({})", rank_, dim);
  dims_[static_cast<size_t>(rank_++)] = dim;
}

int64_t Shape::count() const {
  // A zero first: [2^40, 2^40, 0] has no elements, and no overflow either.
  if (std::find(begin(), end(), 0) != end()) return 0;
  int64_t n = 1;
  for (int64_t d : *this) {
    require(n <= kMostElements / d, "shape: {} has too many elements", str());
    n *= d;
  }
  return n;
}

bool Shape::operator==(const Shape& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

int Shape::axis(int axis, const char* what) const {
  const int from_start = axis < 0 ? axis + rank_ : axis;
  require(from_start >= 0 && from_start < rank_, "{}: axis {} of a tensor of shape {}", what, axis, str());
  return from_start;
}

Shape Shape::without(int axis) const {
  Shape out;
  for (int i = 0; i < rank_; ++i)
    if (i != axis) out.push_back((*this)[i]);
  return out;
}

Shape Shape::with(int axis, int64_t dim) const {
  Shape out = *this;
  out[axis] = dim;
  return out;
}

std::string Shape::str() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) out += (i == 0 ? "" : ", ") + std::to_string((*this)[i]);
  return out + "]";
}

Shape batch_of(int64_t n, const Shape& sample) {
  Shape shape{n};
  for (const int64_t dim : sample) shape.push_back(dim);
  return shape;
}

Shape broadcast(const Shape& a, const Shape& b, const char* what) {
  Shape out;
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    require(da == db || da == 1 || db == 1, "{}: shapes {} and {} do not broadcast: axis {} from the end is {} and {}",
            what, a.str(), b.str(), rank - i, da, db);
    out.push_back(da == 1 ? db : da);
  }
  return out;
}

Strides row_major(const Shape& shape) {
  Strides strides{};
  if (shape.count() == 0) return strides;  // nothing to step over, and products of the other dimensions may overflow
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<size_t>(i)] = step;
    step *= shape[i];
  }
  return strides;
}

}  // namespace tg
