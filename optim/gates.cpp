#include "optim/gates.h"

#include <algorithm>

#include "framework/core/error.h"

namespace tg {

Release Bsp::join(WorkerId worker) {
  const bool is_new = working_in_.emplace(worker, round_).second;
  require(is_new, "gate: worker {} joined twice", worker);
  return {worker};
}

Verdict Bsp::arrive(WorkerId worker, int64_t) {
  const auto live = working_in_.find(worker);
  require(live != working_in_.end() && waiting_.count(worker) == 0,
          "gate: a message arrived from worker {}, which was not sent anything to work from", worker);
  if (live->second < round_) {
    live->second = round_;
    return {.taken = false, .release = {worker}};
  }
  waiting_.insert(worker);
  return {.taken = true, .release = close_if_complete()};
}

Release Bsp::leave(WorkerId worker) {
  require(working_in_.erase(worker) == 1, "gate: worker {} left but had not joined", worker);
  waiting_.erase(worker);
  return close_if_complete();
}

Release Bsp::close_if_complete() {
  const int64_t live = static_cast<int64_t>(working_in_.size());
  if (static_cast<int64_t>(waiting_.size()) < std::max<int64_t>(1, live - backup_)) return {};
  ++round_;
  const Release release(waiting_.begin(), waiting_.end());
  for (const WorkerId worker : release) working_in_[worker] = round_;
  waiting_.clear();
  return release;
}

}  // namespace tg
