#include "dist/replay/replay.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "dist/ahead_pool.h"
#include "dist/cores.h"
#include "dist/history/measure.h"
#include "dist/ledger.h"
#include "dist/shard.h"
#include "dist/worker_side.h"

namespace tg {
namespace {

using Kind = Event::Kind;

// One shard and how far its log has been followed.
struct Track {
  Shard shard;
  const std::vector<Event>& events;
  size_t next = 0;
  std::vector<int64_t> tasks;  // sent to each worker so far

  bool done() const { return next == events.size(); }
  bool ended() const {
    return !events.empty() && (events.back().kind == Kind::finish || events.back().kind == Kind::stop);
  }
};

// One worker. Its tasks follow each other: all shards have its last message before all have sent the next parameters.
struct Slot {
  WorkerSide side;
  std::vector<int64_t> needed{};  // by task: the place in a log where its message arrives; kNever if it does not
  int64_t tasks = 0;              // that all shards have sent
  AheadPool::Handle work{};       // of the last of these
  int64_t bytes_down = 0;
  // Of the task that shards are sending:
  size_t sent_by = 0;  // shards
  int64_t batch = 0;
  float learning_rate = 0;
  // Of the message that shards are taking in:
  size_t taken_by = 0;  // shards
  bool taken = true;
  UpdateRecord record{};
  std::vector<double> squares{};  // of the gap, by shard
};

constexpr int64_t kNever = -1;

class Replay {
 public:
  Replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer);
  Replayed run();

 private:
  void scan();
  bool ready(const Track& track);
  bool wait_for_one();
  void wait_for(const Track& track, WorkerId id);
  void step(size_t s);
  void report();
  void check(const Track& track, const Event& event);
  Event follow(size_t s, const Event& event);
  Event arrive(size_t s, const Event& event);
  Event send(size_t s, const Event& event);
  Event evaluate(size_t s, const Event& event);
  void all_sent(Slot& slot, WorkerId id);
  void all_taken(Slot& slot);
  void compare(size_t s, const Event& now, const Event& then);
  void end(History::Status status, std::string message = {});
  [[noreturn]] void refuse_stuck() const;
  Slot& slot(WorkerId id) { return slots_[static_cast<size_t>(id)]; }

  // An error about the shard's next event.
  template <class... Args>
  void require_here(bool condition, const Track& track, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail("{}: {}", place(track), fmt::format(format, std::forward<Args>(args)...));
  }
  std::string place(const Track& track) const {
    return fmt::format("shard {}, event {} ({})", &track - tracks_.data(), track.next,
                       name_of(track.events[track.next].kind));
  }

  struct Copy {
    int64_t gradients = std::numeric_limits<int64_t>::max();  // until the first shard says
    double time = 0;
    Tensor theta{};
    size_t parts = 0;  // shards that have copied theirs
  };

  const Job& job_;
  const ReplayOptions options_;
  Observer& observer_;
  const OmpThreads one_thread_{1};
  std::vector<Track> tracks_;
  std::deque<Slot> slots_;
  std::map<int64_t, Copy> copies_;  // by the evaluation's number
  Replayed result_;
  Ledger ledger_;
  bool over_ = false;     // before the logs' end
  bool stopped_ = false;  // by the observer
  AheadPool pool_;        // destroyed first: its threads use the others
};

Replay::Replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer)
    : job_(job),
      options_(options),
      observer_(observer),
      ledger_(job, pool_, observer, result_.history),
      pool_(pool_threads(job, options.pool_threads, "replay"), job.threads_per_worker) {
  std::vector<Shard> shards = make_shards(job, static_cast<int>(logs.size()), "replay");
  tracks_.reserve(shards.size());
  for (size_t s = 0; s < shards.size(); ++s)
    tracks_.push_back({.shard = std::move(shards[s]),
                       .events = logs[s].events,
                       .tasks = std::vector<int64_t>(static_cast<size_t>(job.workers))});
  for (WorkerId id = 0; id < job.workers; ++id) {
    slots_.push_back({.side = WorkerSide(id, job)});
    slots_.back().squares.resize(tracks_.size());
  }
  scan();
}

// Which messages arrive anywhere, and how early: only these are computed.
void Replay::scan() {
  for (Track& track : tracks_) {
    std::vector<int64_t> tasks(static_cast<size_t>(job_.workers));
    for (track.next = 0; !track.done(); ++track.next) {
      const Event& event = track.events[track.next];
      const bool of_worker = event.kind != Kind::evaluate && event.kind != Kind::finish && event.kind != Kind::stop;
      require_here(!of_worker || (event.worker >= 0 && event.worker < job_.workers), track,
                   "there is no worker {}; the run has {}", event.worker, job_.workers);
      if (event.kind != Kind::assign && event.kind != Kind::arrive) continue;
      int64_t& count = tasks[static_cast<size_t>(event.worker)];
      std::vector<int64_t>& needed = slot(event.worker).needed;
      if (event.kind == Kind::assign) {
        if (++count > std::ssize(needed)) needed.push_back(kNever);
      } else if (count > 0 && needed[static_cast<size_t>(count - 1)] == kNever) {
        needed[static_cast<size_t>(count - 1)] = static_cast<int64_t>(track.next);
      }
    }
    track.next = 0;
  }
}

Replayed Replay::run() {
  const auto start = std::chrono::steady_clock::now();
  while (!over_) {
    bool moved = false;
    for (size_t s = 0; s < tracks_.size(); ++s)
      while (!over_ && !tracks_[s].done() && ready(tracks_[s])) {
        step(s);
        moved = true;
      }
    if (!moved && !wait_for_one()) break;
    ledger_.report_evaluations(false);
  }

  History& history = result_.history;
  const auto all = [this](const auto& holds) { return std::all_of(tracks_.begin(), tracks_.end(), holds); };
  const bool logs_end = all([](const Track& track) { return track.ended(); });
  const bool followed = all([](const Track& track) { return track.done(); });
  if (!over_ && logs_end && !followed) refuse_stuck();
  copies_.clear();  // what only some shards have copied
  report();
  result_.whole = logs_end && followed && result_.difference.empty();
  if (!over_) {
    const bool finished =
        result_.whole && all([](const Track& track) { return track.events.back().kind == Kind::finish; });
    end(finished ? History::Status::finished : History::Status::stopped);
  }
  if (history.status == History::Status::finished && !ledger_.trouble().empty()) {
    history.status = History::Status::diverged;
    history.message = ledger_.trouble();
  }
  ledger_.report_evaluations(!stopped_);
  pool_.close();
  check_test_losses(history);

  for (const Slot& slot : slots_) history.gradient_seconds += slot.side.seconds();
  history.theta.resize(static_cast<size_t>(job_.task->layout().size()));
  const Span theta(history.theta.data(), std::ssize(history.theta));
  for (const Track& track : tracks_) {
    history.update_seconds += track.shard.seconds();
    const View part = track.shard.theta();
    std::copy(part.begin(), part.end(), track.shard.range().part_of(theta).begin());
  }
  history.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(result_);
}

// A message is waited for, and what other shards have not sent yet of the task before.
bool Replay::ready(const Track& track) {
  const Event& event = track.events[track.next];
  if (event.kind != Kind::arrive && event.kind != Kind::assign) return true;
  const Slot& of = slot(event.worker);
  const bool level = of.tasks == track.tasks[static_cast<size_t>(event.worker)];
  if (event.kind == Kind::assign) return level;
  return !track.shard.at_work(event.worker) || (level && of.work && pool_.done(of.work));  // if not at work: an error
}

// Waits for the message that some shard's next event needs. False if none is under way.
bool Replay::wait_for_one() {
  for (const Track& track : tracks_) {
    if (track.done()) continue;
    const WorkerId id = track.events[track.next].worker;
    const Slot& from = slot(id);
    if (from.tasks != track.tasks[static_cast<size_t>(id)] || !from.work) continue;
    wait_for(track, id);
    return true;
  }
  return false;
}

// Also for what is done: it may have failed.
void Replay::wait_for(const Track& track, WorkerId id) {
  try {
    pool_.wait(slot(id).work);
  } catch (const std::exception& error) {
    fail("update {}: worker {}, batch {}: {}", track.shard.accepted(), id, track.shard.batch(id), error.what());
  }
}

void Replay::step(size_t s) {
  Track& track = tracks_[s];
  const Event& event = track.events[track.next];
  check(track, event);
  if (s == 0 && event.kind == Kind::arrive && observer_.stop()) {
    stopped_ = true;
    return end(History::Status::stopped);
  }
  Event now = follow(s, event);
  if (over_) return;
  now.time = event.time;
  require_here(now.version == event.version, track, "{} messages were taken in; the log says {}", now.version,
               event.version);
  observer_.on_event(static_cast<int>(s), now);
  compare(s, now, event);
  ++track.next;
  report();
}

// The next updates that all shards have taken in; but an evaluation between two of them comes before the second, also
// if some shards are still to copy their part for it.
void Replay::report() {
  const auto waits = [this](const auto& copy) { return copy.second.gradients <= ledger_.reported(); };
  while (std::none_of(copies_.begin(), copies_.end(), waits) && ledger_.report_next()) {
  }
}

// That the event can be the next.
void Replay::check(const Track& track, const Event& event) {
  const Shard& shard = track.shard;
  const WorkerId id = event.worker;
  const auto joined = [&] { require_here(shard.joined(id), track, "worker {} has not joined", id); };
  switch (event.kind) {
    case Kind::join: return require_here(!shard.joined(id), track, "worker {} has joined before", id);
    case Kind::leave: return joined();
    case Kind::assign:
      joined();
      require_here(!shard.at_work(id), track, "worker {} is at work already, on batch {}", id, shard.batch(id));
      return require_here(event.batch >= 0, track, "there is no batch {}", event.batch);
    case Kind::release: joined(); return require_here(!shard.at_work(id), track, "worker {} is at work", id);
    case Kind::arrive:
      joined();
      require_here(shard.at_work(id), track, "worker {} was sent nothing to work from", id);
      require_here(shard.batch(id) == event.batch && shard.told(id).learning_rate == event.learning_rate, track,
                   "worker {} has batch {} with rate {}, not {} with {}", id, shard.batch(id),
                   shard.told(id).learning_rate, event.batch, event.learning_rate);
      return;
    case Kind::evaluate: return;
    case Kind::finish:
    case Kind::stop: return require_here(track.next + 1 == track.events.size(), track, "events follow the run's end");
  }
}

Event Replay::follow(size_t s, const Event& event) {
  Shard& shard = tracks_[s].shard;
  switch (event.kind) {
    case Kind::join: return shard.join(event.worker);
    case Kind::leave:
      if (s == 0) result_.history.lost.push_back({event.worker, shard.accepted(), "as recorded"});
      return shard.leave(event.worker);
    case Kind::assign: return send(s, event);
    case Kind::arrive: return arrive(s, event);
    case Kind::evaluate: return evaluate(s, event);
    case Kind::release: return shard.release(event.worker, event.learning_rate, slot(event.worker).side.reply());
    case Kind::finish:
    case Kind::stop: break;
  }
  return shard.end(event.kind);
}

Event Replay::send(size_t s, const Event& event) {
  Track& track = tracks_[s];
  Slot& to = slot(event.worker);
  if (to.sent_by == 0) {
    to.batch = event.batch;
    to.learning_rate = event.learning_rate;
  }
  require_here(to.batch == event.batch && to.learning_rate == event.learning_rate, track,
               "worker {} is sent batch {} with rate {}; another shard sent it {} with {}", event.worker, event.batch,
               event.learning_rate, to.batch, to.learning_rate);
  const Event sent = track.shard.assign(event.worker, event.batch, event.learning_rate, to.side.reply());
  ++track.tasks[static_cast<size_t>(event.worker)];
  if (++to.sent_by == tracks_.size()) all_sent(to, event.worker);
  return sent;
}

// The worker has everything that its task needs.
void Replay::all_sent(Slot& slot, WorkerId id) {
  slot.sent_by = 0;
  const int64_t task = slot.tasks++;
  slot.bytes_down = slot.side.receive(task);
  slot.work.reset();
  const int64_t needed = slot.needed[static_cast<size_t>(task)];
  if (needed == kNever) return;
  slot.work = pool_.submit(
      static_cast<double>(needed),
      [&slot, task, batch = slot.batch, info = tracks_.front().shard.told(id)] { slot.side.work(task, batch, info); });
}

Event Replay::arrive(size_t s, const Event& event) {
  Track& track = tracks_[s];
  Slot& from = slot(event.worker);
  wait_for(track, event.worker);
  const WorkerSide::Outcome& outcome = from.side.outcome();
  if (from.taken_by == 0) from.taken = event.taken;
  require_here(from.taken == event.taken, track, "worker {}'s message was taken at one shard and refused at another",
               event.worker);
  if (event.taken && !std::isfinite(outcome.loss) && !options_.compare) {
    end(History::Status::diverged,
        fmt::format("at update {}: {}", track.shard.accepted(), from.side.trouble(event.batch)));
    return event;
  }
  if (s == 0)
    from.record = {.update = track.shard.accepted(),
                   .worker = event.worker,
                   .batch = event.batch,
                   .lag = track.shard.lag(event.worker),
                   .loss = outcome.loss,
                   .learning_rate = event.learning_rate,
                   .time = event.time,
                   .bytes_up = outcome.bytes,
                   .bytes_down = from.bytes_down};
  from.squares[s] = track.shard.squared_gap(from.side.sent());
  const Event arrived = event.taken
                            ? track.shard.take(event.worker, from.side.message(), from.side.sent(), outcome.loss)
                            : track.shard.refuse(event.worker, outcome.loss);
  if (++from.taken_by == tracks_.size()) all_taken(from);
  return arrived;
}

void Replay::all_taken(Slot& slot) {
  slot.taken_by = 0;
  if (!slot.taken) return slot.side.not_taken();
  double squares = 0;
  for (const double part : slot.squares) squares += part;
  slot.record.gap = root_mean_square(squares, job_.task->layout().count());
  ledger_.update(slot.record);
}

Event Replay::evaluate(size_t s, const Event& event) {
  const Shard& shard = tracks_[s].shard;
  Copy& copy = copies_[event.batch];
  // Each belongs to one worker's visit to the shards, or to the run's end.
  require_here(std::ssize(copies_) <= job_.workers + 1, tracks_[s], "{} evaluations that not all shards have begun",
               copies_.size());
  if (!copy.theta.defined()) copy.theta = Tensor::zeros({job_.task->layout().size()});
  if (s == 0) {
    copy.gradients = shard.accepted();
    copy.time = event.time;
  }
  std::copy(shard.theta().begin(), shard.theta().end(), shard.range().part_of(copy.theta.span()).begin());
  if (++copy.parts == tracks_.size()) {
    ledger_.evaluation(copy.gradients, copy.time, copy.theta);
    copies_.erase(event.batch);
  }
  return shard.evaluate(event.batch);
}

void Replay::compare(size_t s, const Event& now, const Event& then) {
  if (!options_.compare) return;
  if (s == 0 && std::bit_cast<uint64_t>(now.loss) != std::bit_cast<uint64_t>(then.loss)) {
    result_.difference =
        fmt::format("update {} differs: worker {}'s loss on batch {} is {}, and was {}",
                    then.taken ? then.version - 1 : then.version, then.worker, then.batch, now.loss, then.loss);
  } else if (now.theta_hash != then.theta_hash) {
    result_.difference = fmt::format(
        "after {} updates the parameters of shard {} differ (their hash is {:016x}, and was {:016x}), though the "
        "losses of "
        "these updates do not",
        then.version, s, now.theta_hash, then.theta_hash);
  }
  if (!result_.difference.empty()) end(History::Status::stopped);
}

void Replay::end(History::Status status, std::string message) {
  over_ = true;
  result_.history.status = status;
  result_.history.message = std::move(message);
}

// The logs are whole and nothing more can happen.
void Replay::refuse_stuck() const {
  for (const Track& track : tracks_) {
    if (track.done()) continue;
    const WorkerId id = track.events[track.next].worker;
    require_here(false, track,
                 "worker {}'s message needs parameters from all shards, and not all of them send them first", id);
  }
  fail("replay: nothing more can happen");
}

}  // namespace

Replayed replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer) {
  check_job(job, "replay");
  return Replay(job, logs, options, observer).run();
}

}  // namespace tg
