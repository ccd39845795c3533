#pragma once
// How a flat vector of parameters is cut into shards.

#include <vector>

#include "framework/core/layout.h"
#include "framework/core/span.h"

namespace tg {

// Neighbouring parameters, as a vector of their own.
struct ShardRange {
  int64_t first = 0;  // element of the whole vector where it starts
  Layout layout;      // of this range: names and shapes are those of the whole, offsets start at 0

  int64_t bytes() const { return layout.count() * static_cast<int64_t>(sizeof(float)); }
  template <class T>
  BasicSpan<T> part_of(BasicSpan<T> whole) const {
    return whole.part(first, layout.size());
  }
};

// Cuts between parameters so that the largest shard has as few bytes as can be. Throws Error unless 1 <= shards <=
// number of parameters with a name.
std::vector<ShardRange> cut_shards(const Layout& layout, int shards);

// The largest shard's bytes / the mean.
double imbalance(const std::vector<ShardRange>& shards);

}  // namespace tg
