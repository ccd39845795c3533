#pragma once
// How the flat vector of all parameters is cut into shards.

#include <vector>

#include "framework/core/layout.h"
#include "framework/core/span.h"

namespace tg {

// One shard's part of the flat vector: some tensors that lie next to each other.
struct ShardRange {
  int64_t first = 0;  // the element of the whole vector where this part starts
  Layout layout;      // names and shapes as in the whole vector; offsets count from `first`

  // Of its parameters, without the gaps between tensors.
  int64_t bytes() const { return layout.count() * static_cast<int64_t>(sizeof(float)); }
  template <class T>
  BasicSpan<T> part_of(BasicSpan<T> whole) const {
    return whole.part(first, layout.size());
  }
};

// Cuts the vector between tensors, never within one, so that the largest shard is as small as possible. Throws Error
// unless 1 <= shards <= number of tensors.
std::vector<ShardRange> cut_shards(const Layout& layout, int shards);

// Bytes of the largest shard divided by the mean over all shards: 1 is a perfect cut.
double imbalance(const std::vector<ShardRange>& shards);

}  // namespace tg
