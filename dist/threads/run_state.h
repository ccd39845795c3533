#pragma once
// What the threads of a run share: a seat for each worker, and the mail from the workers to the engine's own thread,
// which writes the history and calls the observer.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "dist/engine.h"
#include "dist/worker_side.h"

namespace tg {

// Copies of theta that wait for their evaluation may take this many bytes together; but always at least kFewestCopies
// are allowed, however large theta is.
inline constexpr int64_t kMostCopiedBytes = int64_t{1} << 30;
inline constexpr int64_t kFewestCopies = 4;

// One worker. Only its own thread may use it, except while the worker waits for parameters: then whoever releases it
// writes them here.
struct Seat {
  enum class State { computing, waiting, resting, gone };

  explicit Seat(WorkerId worker) : id(worker) {}

  const WorkerId id;
  std::optional<WorkerSide> side{};  // made by the worker's thread, on its own cores
  StepInfo info{};                   // what the first shard told it with its parameters
  int64_t batch = 0;                 // that it was sent; -1: no batch was left
  int64_t tasks = 0;                 // begun so far
  int64_t messages = 0;              // handed in so far
  int64_t bytes_down = 0;            // encoded bytes of the parameters that it works from
  bool present = true;               // false: it was lost before the snapshot from which the run goes on

  std::condition_variable released{};  // used with the gate's lock
  bool ready = false;                  // the parameters that it works from next are written

  // Written by the worker's thread, for Watch (watch.h).
  std::atomic<State> state = State::computing;
  std::atomic<double> since = 0;  // when it entered that state: seconds after the run's start
  std::atomic<int64_t> task = 0;  // number of the task that it computes
  void enter(State next, double now) {
    since = now;
    state = next;
  }

  // Only while the worker rests, waits or is gone: a computation that is under way cannot be saved.
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);
};

// What workers report to the engine's own thread, which takes it every few milliseconds.
struct Mail {
  struct Copy {
    int64_t messages;  // taken in before it
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

  // For a run that goes on: sets the clock to `seconds` after the run's start.
  void set_seconds(double seconds);

  const Job& job;
  std::deque<Seat> seats;              // a deque, so that references to a seat stay valid
  std::atomic<bool> over = false;      // no further message is taken; only a server sets it
  std::atomic<int64_t> taken = 0;      // messages taken in
  std::atomic<int64_t> copies = 0;     // of theta made for evaluations
  std::atomic<int64_t> evaluated = 0;  // of these copies, those whose evaluation is done

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // How the run ends. Only the first call counts.
  void end(History::Status status, std::string message) {
    const std::lock_guard lock(mutex_);
    if (!status_) {
      status_ = status;
      message_ = std::move(message);
    }
  }
  // An error of the server, gate or rule: the run has no result. Only the first call counts.
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
  // Moves the mail to `empty`, an empty object whose memory is used for the mail that follows.
  void collect(Mail& empty) {
    const std::lock_guard lock(mutex_);
    std::swap(mail_, empty);
  }

  // Between pause() and go_on() no worker begins a new computation: a snapshot needs the run to stand still.
  void pause() { paused_ = true; }
  bool paused() const { return paused_; }
  void go_on();
  // On a worker's thread, before it computes: if the run is paused, waits for go_on().
  void rest_if_paused(Seat& seat);

  // Whether there is room for one more copy of theta.
  bool may_copy() const {
    const int64_t bytes = job.task->layout().size() * static_cast<int64_t>(sizeof(float));
    return copies - evaluated < std::max(kFewestCopies, kMostCopiedBytes / bytes);
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  std::atomic<bool> paused_ = false;
  std::mutex pause_mutex_;  // with gone_on_, for workers that rest
  std::condition_variable gone_on_;
  mutable std::mutex mutex_;  // protects the members below
  Mail mail_;
  std::optional<History::Status> status_;
  std::string message_, failure_;
};

}  // namespace tg
