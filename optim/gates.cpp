#include "optim/gates.h"

#include <algorithm>

#include "framework/core/error.h"

namespace tg {
namespace {

constexpr const char *kLive = "gate/live", *kWaiting = "gate/waiting", *kRound = "gate/round";

// Live workers with a number each.
void write_live(StateWriter& state, const std::map<WorkerId, int64_t>& numbers) {
  std::vector<WorkerId> ids;
  for (const auto& [id, number] : numbers) {
    ids.push_back(id);
    state.write(fmt::format("{}/{}", kLive, id), number);
  }
  write_workers(state, kLive, ids);
}

std::map<WorkerId, int64_t> read_live(const StateReader& state) {
  std::map<WorkerId, int64_t> numbers;
  for (const WorkerId id : read_workers(state, kLive)) numbers[id] = state.read(fmt::format("{}/{}", kLive, id));
  return numbers;
}

void write_waiting(StateWriter& state, const std::set<WorkerId>& waiting) {
  write_workers(state, kWaiting, {waiting.begin(), waiting.end()});
}

std::set<WorkerId> read_waiting(const StateReader& state) {
  const std::vector<WorkerId> ids = read_workers(state, kWaiting);
  return {ids.begin(), ids.end()};
}

}  // namespace

void Bsp::check(int workers) const {
  require(backup_ < workers || workers == 1,  // who is alone waits for nobody, whatever the gate
          "backup={} of {} workers: a round would wait for nobody but the first; use a backup of at most {}, or more "
          "workers",
          backup_, workers, workers - 1);
}

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

void Bsp::save(StateWriter& state) const {
  state.write(kRound, round_);
  write_live(state, working_in_);
  write_waiting(state, waiting_);
}

void Bsp::load(const StateReader& state) {
  round_ = state.read(kRound);
  working_in_ = read_live(state);
  waiting_ = read_waiting(state);
}

Release Ssp::join(WorkerId worker) {
  const bool is_new = clocks_.emplace(worker, clocks_.empty() ? 0 : slowest()).second;
  require(is_new, "gate: worker {} joined twice", worker);
  return {worker};
}

Verdict Ssp::arrive(WorkerId worker, int64_t) {
  const auto live = clocks_.find(worker);
  require(live != clocks_.end() && waiting_.count(worker) == 0,
          "gate: a message arrived from worker {}, which was not sent anything to work from", worker);
  ++live->second;
  waiting_.insert(worker);
  return {.taken = true, .release = release_near()};
}

Release Ssp::leave(WorkerId worker) {
  require(clocks_.erase(worker) == 1, "gate: worker {} left but had not joined", worker);
  waiting_.erase(worker);
  return release_near();
}

int64_t Ssp::slowest() const {
  return std::min_element(clocks_.begin(), clocks_.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->second;
}

// Lets those go on that are no more than the bound ahead.
Release Ssp::release_near() {
  Release release;
  if (waiting_.empty()) return release;
  const int64_t furthest = slowest() + bound_;
  for (const WorkerId worker : waiting_)
    if (clocks_.at(worker) <= furthest) release.push_back(worker);
  for (const WorkerId worker : release) waiting_.erase(worker);
  return release;
}

void Ssp::save(StateWriter& state) const {
  write_live(state, clocks_);
  write_waiting(state, waiting_);
}

void Ssp::load(const StateReader& state) {
  clocks_ = read_live(state);
  waiting_ = read_waiting(state);
}

}  // namespace tg
