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
#include "dist/replay/order.h"
#include "dist/worker_side.h"

namespace tg {
namespace {

using Kind = Event::Kind;

// One shard, its log, and how far the replay has come in it.
struct Track {
  Shard shard;
  const std::vector<Event>& events;
  size_t next = 0;
  std::vector<int64_t> tasks;  // by worker: tasks that this shard has sent to it so far

  bool done() const { return next == events.size(); }
  bool ended() const {
    return !events.empty() && (events.back().kind == Kind::finish || events.back().kind == Kind::stop);
  }
};

// One worker. Its tasks do not overlap: before all shards have sent it the parameters of the next task, all of them
// have taken in the message of the last one.
struct Slot {
  WorkerSide side;
  std::vector<int64_t> needed{};  // by task, as arrivals_of() has it
  int64_t tasks = 0;              // tasks whose parameters all shards have sent
  AheadPool::Handle work{};       // the computation of the last of these tasks
  int64_t bytes_down = 0;
  // The task whose parameters the shards are sending now:
  size_t sent_by = 0;  // shards that have sent their part
  int64_t batch = 0;
  float learning_rate = 0;
  // The message that the shards are taking in now:
  size_t taken_by = 0;  // shards that have taken in their part
  bool taken = true;
  UpdateRecord record{};
  std::vector<double> squares{};  // by shard: sum of the squares of the gap's elements
};

class Replay {
 public:
  Replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer);
  Replayed run();

 private:
  bool ready(const Track& track);
  bool wait_for_one();
  void wait_for(const Track& track, WorkerId id);
  void step(size_t s);
  void report();
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

  // The place of the shard's next event.
  Place place(size_t s) const { return {s, tracks_[s].next, tracks_[s].events[tracks_[s].next].kind}; }

  struct Copy {
    int64_t messages = std::numeric_limits<int64_t>::max();  // not known before shard 0 makes its copy
    double time = 0;
    Tensor theta{};
    size_t parts = 0;  // shards that have copied their part
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
  bool over_ = false;     // the replay ends here, maybe before the end of the logs
  bool stopped_ = false;  // by the observer
  AheadPool pool_;        // destroyed first: its threads use the others
};

Replay::Replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer)
    : job_(job),
      options_(options),
      observer_(observer),
      ledger_(job, pool_, observer, result_.history),
      pool_(pool_threads(job, options.pool_threads, "replay"), job.threads_per_worker) {
  std::vector<std::vector<int64_t>> arrivals = arrivals_of(logs, job.workers);
  std::vector<Shard> shards = make_shards(job, static_cast<int>(logs.size()), "replay");
  check_batches(logs, job);
  tracks_.reserve(shards.size());
  for (size_t s = 0; s < shards.size(); ++s)
    tracks_.push_back({.shard = std::move(shards[s]),
                       .events = logs[s].events,
                       .tasks = std::vector<int64_t>(static_cast<size_t>(job.workers))});
  for (WorkerId id = 0; id < job.workers; ++id) {
    slots_.push_back({.side = WorkerSide(id, job), .needed = std::move(arrivals[static_cast<size_t>(id)])});
    slots_.back().squares.resize(tracks_.size());
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
  copies_.clear();  // an evaluation of which only some shards have copied their part cannot be done
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

// Whether the shard's next event can happen now. If a message arrives, its gradient must have been computed. If
// parameters are sent, all shards must have sent those of the worker's task before.
bool Replay::ready(const Track& track) {
  const Event& event = track.events[track.next];
  if (event.kind != Kind::arrive && event.kind != Kind::assign) return true;
  const Slot& of = slot(event.worker);
  const bool level = of.tasks == track.tasks[static_cast<size_t>(event.worker)];
  if (event.kind == Kind::assign) return level;
  return !track.shard.at_work(event.worker) || (level && of.work && pool_.done(of.work));  // if not at work: an error
}

// Waits for a gradient that the next event of some shard needs. False if no such gradient is being computed.
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

// To be called also for a gradient that is done: it may have failed, and that is thrown here.
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
  check_order(place(s), track.shard, event, track.next + 1 == track.events.size());
  Event now = follow(s, event);
  if (over_) return;
  now.time = event.time;
  require_at(place(s), now.version == event.version, "{} messages were taken in; the log says {}", now.version,
             event.version);
  observer_.on_event(static_cast<int>(s), now);
  compare(s, now, event);
  ++track.next;
  report();
}

// Reports the updates that all shards have taken in. An evaluation that comes before an update must be reported first:
// the update then waits until all shards have copied their part of theta for that evaluation.
void Replay::report() {
  const auto waits = [this](const auto& copy) { return copy.second.messages <= ledger_.reported(); };
  while (!over_ && std::none_of(copies_.begin(), copies_.end(), waits)) {
    if (observer_.stop()) {
      stopped_ = true;
      return end(History::Status::stopped);
    }
    if (!ledger_.report_next()) return;
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
  require_at(place(s), to.batch == event.batch && to.learning_rate == event.learning_rate,
             "worker {} is sent batch {} with rate {}; another shard sent it {} with {}", event.worker, event.batch,
             event.learning_rate, to.batch, to.learning_rate);
  const Event sent = track.shard.assign(event.worker, event.batch, event.learning_rate, to.side.reply());
  ++track.tasks[static_cast<size_t>(event.worker)];
  if (++to.sent_by == tracks_.size()) all_sent(to, event.worker);
  return sent;
}

// All shards have sent this worker's parameters: its gradient can be computed.
void Replay::all_sent(Slot& slot, WorkerId id) {
  slot.sent_by = 0;
  const int64_t task = slot.tasks++;
  slot.bytes_down = slot.side.receive(task);
  slot.work.reset();
  const int64_t needed = slot.needed[static_cast<size_t>(task)];
  if (needed == kNever) return;
  Terms* const terms = observer_.explain_work_to(id, slot.batch);
  slot.work = pool_.submit(static_cast<double>(needed),
                           [&slot, task, batch = slot.batch, info = tracks_.front().shard.told(id), terms] {
                             if (terms) slot.side.explain(task, batch, info, *terms);
                             slot.side.work(task, batch, info);
                           });
}

Event Replay::arrive(size_t s, const Event& event) {
  Track& track = tracks_[s];
  Slot& from = slot(event.worker);
  wait_for(track, event.worker);
  const WorkerSide::Outcome& outcome = from.side.outcome();
  if (from.taken_by == 0) from.taken = event.taken;
  require_at(place(s), from.taken == event.taken, "worker {}'s message was taken at one shard and refused at another",
             event.worker);
  if (event.taken && !std::isfinite(outcome.loss) && !options_.compare) {
    end(History::Status::diverged,
        fmt::format("at update {}: {}", track.shard.accepted(), from.side.trouble(event.batch)));
    return event;
  }
  if (s == 0) {
    from.record = track.shard.record(event.worker);
    from.record.loss = outcome.loss;
    from.record.time = event.time;
    from.record.bytes_up = outcome.bytes;
    from.record.bytes_down = from.bytes_down;
  }
  from.squares[s] = track.shard.squared_gap(event.worker, from.side.sent());
  if (event.taken) {
    Terms* const terms = observer_.explain_to(static_cast<int>(s), event.worker, event.batch, track.shard.theta());
    if (terms) track.shard.explain(event.worker, from.side.message(), from.side.sent(), *terms);
  }
  const Event arrived = event.taken ? track.shard.take(event.worker, from.side.message(), from.side.sent(),
                                                       from.side.ahead(), outcome.loss)
                                    : track.shard.refuse(event.worker, outcome.loss);
  if (++from.taken_by == tracks_.size()) all_taken(from);
  return arrived;
}

void Replay::all_taken(Slot& slot) {
  slot.taken_by = 0;
  if (!slot.taken) return slot.side.not_taken();
  double squares = 0;
  for (const double part : slot.squares) squares += part;
  slot.record.gap = root_mean_square(squares, gap_coordinates(job_));
  ledger_.update(slot.record);
}

Event Replay::evaluate(size_t s, const Event& event) {
  const Shard& shard = tracks_[s].shard;
  if (!options_.evaluate) return shard.evaluate(event.batch);
  Copy& copy = copies_[event.batch];
  // Every copy is made during one worker's visit to the shards, or at the run's end: there cannot be more at a time.
  require_at(place(s), std::ssize(copies_) <= job_.workers + 1, "{} evaluations that not all shards have begun",
             copies_.size());
  if (!copy.theta.defined()) copy.theta = Tensor::zeros({job_.task->layout().size()});
  if (s == 0) {
    copy.messages = shard.accepted();
    copy.time = event.time;
  }
  std::copy(shard.theta().begin(), shard.theta().end(), shard.range().part_of(copy.theta.span()).begin());
  if (++copy.parts == tracks_.size()) {
    ledger_.evaluation(copy.messages, copy.time, copy.theta);
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
        "losses of these updates do not",
        then.version, s, now.theta_hash, then.theta_hash);
  }
  if (!result_.difference.empty()) end(History::Status::stopped);
}

void Replay::end(History::Status status, std::string message) {
  over_ = true;
  result_.history.status = status;
  result_.history.message = std::move(message);
}

// Called when the logs are complete, and still no shard's next event can happen.
void Replay::refuse_stuck() const {
  for (size_t s = 0; s < tracks_.size(); ++s)
    if (!tracks_[s].done())
      require_at(
          place(s), false,
          "worker {}'s message needs the parameters of all shards, and the log of another shard sends them only later",
          tracks_[s].events[tracks_[s].next].worker);
  fail("replay: nothing more can happen");
}

}  // namespace

Replayed replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer) {
  check_job(job, "replay");
  return Replay(job, logs, options, observer).run();
}

}  // namespace tg
