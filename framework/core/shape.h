#pragma once
// The shape of a tensor: up to kMaxRank dimensions, held without the heap.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace tg {

inline constexpr int kMaxRank = 6;
inline constexpr int64_t kMostElements = int64_t{1} << 56;  // so that a count of bytes fits 64 bits

class Shape {
 public:
  Shape() = default;  // a scalar: rank 0, one element
  Shape(std::initializer_list<int64_t> dims);
  explicit Shape(std::span<const int64_t> dims);  // throws Error for more than kMaxRank or a negative dimension

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
  // Product of the dimensions; throws Error above kMostElements.
  int64_t count() const;
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  bool operator==(const Shape& other) const;

  // Turns a negative axis into the one counted from the end; throws Error naming `what` if it is out of range.
  int axis(int axis, const char* what) const;
  // This shape with one axis dropped or another put in its place.
  Shape without(int axis) const;
  Shape with(int axis, int64_t dim) const;
  void push_back(int64_t dim);
  std::string str() const;  // "[128, 10]"

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};

// [n, the sample's dimensions]
Shape batch_of(int64_t n, const Shape& sample);

// The shape that NumPy's broadcasting gives; throws Error naming `what` and both shapes if they do not fit.
Shape broadcast(const Shape& a, const Shape& b, const char* what);

// Strides in elements of a row-major tensor of this shape.
using Strides = std::array<int64_t, kMaxRank>;
Strides row_major(const Shape& shape);

}  // namespace tg
