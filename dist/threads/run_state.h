#pragma once
// What the threads of a run share: the seats of the workers, and an outbox for the thread that keeps the books.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "dist/engine.h"
#include "dist/worker_side.h"

namespace tg {

inline constexpr int64_t kMostCopiedBytes = int64_t{1} << 30;  // of theta, for evaluations that are not done; or
inline constexpr int64_t kFewestCopies = 4;                    // so many copies, where that is more

// One worker. Its thread's own, but for the time it waits for parameters.
struct Seat {
  enum class State { computing, waiting, resting, gone };

  explicit Seat(WorkerId worker) : id(worker) {}

  const WorkerId id;
  std::optional<WorkerSide> side{};  // made by the worker's thread, on its own cores
  StepInfo info{};                   // as told by the first shard with the parameters
  int64_t batch = 0;                 // -1: none was left
  int64_t tasks = 0;                 // begun
  int64_t messages = 0;              // handed in
  int64_t bytes_down = 0;            // of the parameters that it works from
  bool present = true;               // false: lost before the snapshot that the run goes on from

  std::condition_variable released{};  // with the gate's lock
  bool ready = false;                  // what it works from next is written

  // For whoever watches.
  std::atomic<State> state = State::computing;
  std::atomic<double> since = 0;  // seconds since the run's start
  std::atomic<int64_t> task = 0;
  void enter(State next, double now) {
    since = now;
    state = next;
  }

  // Of a worker that rests, waits or is gone.
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);
};

// What workers hand to the thread that keeps the books.
struct Mail {
  struct Copy {
    int64_t gradients;
    double time;
    Tensor theta;
  };
  std::vector<UpdateRecord> updates;
  std::vector<Copy> copies;
  std::vector<LostWorker> lost;

  void clear() {
    updates.clear();
    copies.clear();
    lost.clear();
  }
};

class RunState {
 public:
  explicit RunState(const Job& job) : job(job) {
    for (WorkerId id = 0; id < job.workers; ++id) seats.emplace_back(id);
  }

  // Moves the run's start so that it is `seconds` old.
  void set_seconds(double seconds);

  const Job& job;
  std::deque<Seat> seats;              // which stay where they are
  std::atomic<bool> over = false;      // no message is taken any more; a server sets it
  std::atomic<int64_t> taken = 0;      // messages
  std::atomic<int64_t> copies = 0;     // made so far, and
  std::atomic<int64_t> evaluated = 0;  // done with

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // The first reason counts.
  void end(History::Status status, std::string message) {
    const std::lock_guard lock(mutex_);
    if (!status_) {
      status_ = status;
      message_ = std::move(message);
    }
  }
  // A fault of server, gate or rule: the run has no result.
  void fail(std::string message) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = std::move(message);
  }
  std::optional<History::Status> status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  std::string message() const {
    const std::lock_guard lock(mutex_);
    return message_;
  }
  std::string failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  void send(const UpdateRecord& update) {
    const std::lock_guard lock(mutex_);
    mail_.updates.push_back(update);
  }
  void send(const UpdateRecord& update, Mail::Copy copy) {
    const std::lock_guard lock(mutex_);
    mail_.updates.push_back(update);
    mail_.copies.push_back(std::move(copy));
  }
  void send(LostWorker lost) {
    const std::lock_guard lock(mutex_);
    mail_.lost.push_back(std::move(lost));
  }
  // Swaps the mail for `empty`, whose memory is used again.
  void collect(Mail& empty) {
    const std::lock_guard lock(mutex_);
    std::swap(mail_, empty);
  }

  // For a snapshot, every worker rests before its next computation, between pause() and go_on().
  void pause() { paused_ = true; }
  bool paused() const { return paused_; }
  void go_on();
  // On a worker's thread, before it computes.
  void rest_if_paused(Seat& seat);

  // May theta be copied once more?
  bool may_copy() const {
    const int64_t bytes = job.task->layout().size() * static_cast<int64_t>(sizeof(float));
    return copies - evaluated < std::max(kFewestCopies, kMostCopiedBytes / bytes);
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  std::atomic<bool> paused_ = false;
  std::mutex pause_mutex_;  // of going on after a rest
  std::condition_variable gone_on_;
  mutable std::mutex mutex_;  // of what follows
  Mail mail_;
  std::optional<History::Status> status_;
  std::string message_, failure_;
};

}  // namespace tg
