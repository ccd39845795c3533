#include "dist/threads/run_state.h"

#include "dist/snapshot/fields.h"

namespace tg {

void Seat::save(SnapshotWriter to) const {
  const bool at_work = state == State::resting;
  to.write("present", int64_t{state != State::gone});
  to.write("at_work", int64_t{at_work});
  to.write("batch", batch);
  to.write("tasks", tasks);
  to.write("messages", messages);
  to.write("bytes_down", bytes_down);
  write_record(to, "told", info, kStepInfoFields);
  side->save(to, false);  // without a message: a worker that rests or waits has handed it in
}

void Seat::load(const SnapshotReader& from) {
  present = from.read("present", 0, 1) == 1;
  ready = from.read("at_work", 0, int64_t{present}) == 1;
  batch = from.read("batch", ready ? 0 : -1, kMostCounted);
  tasks = from.read("tasks", 0, kMostCounted);
  messages = from.read("messages", 0, kMostCounted);
  bytes_down = from.read("bytes_down");
  info = read_record(from, "told", kStepInfoFields);
  side->load(from, false);
}

void RunState::set_seconds(double seconds) {
  start_ = Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void RunState::go_on() {
  {
    const std::lock_guard lock(pause_mutex_);
    if (!paused_) return;
    paused_ = false;
  }
  gone_on_.notify_all();
}

void RunState::rest_if_paused(Seat& seat) {
  if (!paused_) return;
  std::unique_lock lock(pause_mutex_);
  if (!paused_) return;
  seat.enter(Seat::State::resting, seconds());
  gone_on_.wait(lock, [this] { return !paused_; });
  seat.enter(Seat::State::computing, seconds());  // still under the lock: the next pause does not find it resting
}

}  // namespace tg
