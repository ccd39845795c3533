#pragma once
// 16 random bits for each element of a tensor: what decides whether a codec rounds up or down.
//
// Philox 4x32 with 7 rounds (Salmon et al. 2011: the fewest that pass BigCrush), eight elements to a block. Elements
// lie in groups of 128 = 8 rows of 16, counted from the tensor's start: row r, column c takes half r of block
//     (index of the group's first element in the whole vector) + c
// so that 16 blocks, computed side by side, are the group's rows without a shuffle. Tensors start at multiples of 16,
// hence no block is used twice.

#include <cstdint>

#include "framework/core/random.h"

namespace tg {

inline constexpr int64_t kUniformGroup = 128;

// Of element `index` of the tensor that starts at element `tensor` of the whole vector.
uint16_t uniform16(const Stream& stream, int64_t tensor, int64_t index);

// The same for `groups` groups from element `first` on, a multiple of kUniformGroup.
void uniforms16(const Stream& stream, int64_t tensor, int64_t first, int64_t groups, uint16_t* out);

}  // namespace tg
