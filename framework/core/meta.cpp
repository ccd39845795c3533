#include "framework/core/meta.h"

#include <algorithm>

#include "framework/core/pool.h"

namespace tg::meta {

Tally& tally() {
  thread_local Tally of_this_thread;
  return of_this_thread;
}

void take(int64_t bytes) {
  Tally& t = tally();
  t.live += pool::block_size(bytes);
  t.live_peak = std::max(t.live_peak, t.live);
}

void give_back(int64_t bytes) { tally().live -= pool::block_size(bytes); }

}  // namespace tg::meta
