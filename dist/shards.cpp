#include "dist/shards.h"

#include <algorithm>

#include "framework/core/error.h"

namespace tg {
namespace {

int64_t elements(const Layout::Entry& entry) { return entry.shape.count(); }

// How many shards a greedy cut makes if no shard may have more than `most` elements.
int64_t shards_needed(const std::vector<Layout::Entry>& entries, int64_t most) {
  int64_t shards = 1, in_shard = 0;
  for (const Layout::Entry& entry : entries) {
    if (in_shard + elements(entry) > most) {
      ++shards;
      in_shard = 0;
    }
    in_shard += elements(entry);
  }
  return shards;
}

// The smallest possible size, in elements, of the largest shard: bisection over the answer.
int64_t smallest_maximum(const Layout& layout, int shards) {
  int64_t too_small = 0, enough = layout.count();
  for (const Layout::Entry& entry : layout.entries()) too_small = std::max(too_small, elements(entry) - 1);
  while (enough - too_small > 1) {
    const int64_t middle = too_small + (enough - too_small) / 2;
    (shards_needed(layout.entries(), middle) <= shards ? enough : too_small) = middle;
  }
  return enough;
}

}  // namespace

std::vector<ShardRange> cut_shards(const Layout& layout, int shards) {
  const std::vector<Layout::Entry>& entries = layout.entries();
  require(shards >= 1 && shards <= std::ssize(entries),
          "{} shards: the model has {} parameter tensors and each shard holds at least one: use 1 to {}", shards,
          entries.size(), entries.size());
  const int64_t most = smallest_maximum(layout, shards);
  std::vector<ShardRange> ranges;
  int64_t left = std::ssize(entries);
  for (const Layout::Entry& entry : entries) {
    // A new shard where this one is full, or where every tensor left is needed for a shard of its own.
    const bool needed = std::ssize(ranges) + left == shards;
    if (ranges.empty() || needed || ranges.back().layout.count() + elements(entry) > most)
      ranges.push_back({.first = entry.offset, .layout = {}});
    const int64_t offset = ranges.back().layout.add(entry.name, entry.shape);
    require(ranges.back().first + offset == entry.offset, "shards: {} lies at {}, not at {}", entry.name, entry.offset,
            ranges.back().first + offset);
    --left;
  }
  return ranges;
}

double imbalance(const std::vector<ShardRange>& shards) {
  double largest = 0, sum = 0;
  for (const ShardRange& shard : shards) {
    largest = std::max(largest, static_cast<double>(shard.bytes()));
    sum += static_cast<double>(shard.bytes());
  }
  return largest / (sum / static_cast<double>(shards.size()));
}

}  // namespace tg
