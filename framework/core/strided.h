#pragma once
// Walks strided tensors of one shape: dimensions that can be merged are merged, so that the inner loop is as long as it
// can be.

#include <array>

#include "framework/core/shape.h"

namespace tg {

// Up to N operands of one (broadcast) shape; strides in elements, 0 where an operand is repeated.
template <size_t N>
struct StridedLoop {
  int rank = 0;
  std::array<int64_t, kMaxRank> dims{};
  std::array<Strides, N> strides{};

  StridedLoop(const Shape& shape, const std::array<Strides, N>& operand_strides) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] == 1) continue;
      const size_t a = static_cast<size_t>(axis), last = static_cast<size_t>(rank - 1);
      bool merges = rank > 0;
      for (size_t n = 0; n < N && merges; ++n) merges = strides[n][last] == operand_strides[n][a] * shape[axis];
      const size_t at = merges ? last : static_cast<size_t>(rank++);
      dims[at] = merges ? dims[at] * shape[axis] : shape[axis];
      for (size_t n = 0; n < N; ++n) strides[n][at] = operand_strides[n][a];
    }
    if (rank == 0) {
      dims[0] = 1;
      rank = 1;
    }
  }

  int64_t inner() const { return dims[static_cast<size_t>(rank - 1)]; }
  int64_t inner_stride(int operand) const {
    return strides[static_cast<size_t>(operand)][static_cast<size_t>(rank - 1)];
  }
  // How many inner rows there are.
  int64_t rows() const {
    int64_t n = 1;
    for (int i = 0; i + 1 < rank; ++i) n *= dims[static_cast<size_t>(i)];
    return n;
  }
  // Offsets of the operands at row `row`.
  std::array<int64_t, N> offsets(int64_t row) const {
    std::array<int64_t, N> at{};
    for (int i = rank - 2; i >= 0; --i) {
      const size_t axis = static_cast<size_t>(i);
      const int64_t index = row % dims[axis];
      row /= dims[axis];
      for (size_t n = 0; n < N; ++n) at[n] += index * strides[n][axis];
    }
    return at;
  }
};

// The strides by which a tensor of `shape` and `strides` is read as one of the larger shape `to`.
inline Strides broadcast_strides(const Shape& shape, const Strides& strides, const Shape& to) {
  Strides out{};
  const int lead = to.rank() - shape.rank();
  for (int i = lead; i < to.rank(); ++i)
    out[static_cast<size_t>(i)] = shape[i - lead] == 1 ? 0 : strides[static_cast<size_t>(i - lead)];
  return out;
}

}  // namespace tg
