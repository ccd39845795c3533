#pragma once
// What computations on meta would have cost.
//
// A tensor on meta has a shape and a type and no memory. Operations check, allocate and record as on any device, so
// that a training step runs in milliseconds with the shapes, the order and the lifetimes of the real one.

#include <cstdint>

namespace tg::meta {

struct Tally {
  // Of matrix products and convolutions, 2 for a multiplication and its addition. Other work is bound by memory and
  // counts for nothing, as in the papers.
  double flops = 0;
  int64_t live = 0;       // bytes that tensors would hold now, as the pool counts them
  int64_t live_peak = 0;  // the most that `live` has been; to measure, set it to `live` first
};

// The calling thread's. A tensor should end on the thread that made it.
Tally& tally();

// A tensor of so many bytes begins, or ends.
void take(int64_t bytes);
void give_back(int64_t bytes);

}  // namespace tg::meta
