#include "dist/threads/shard_server.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dist/history/measure.h"
#include "dist/snapshot/snapshot.h"
#include "dist/snapshot/snapshot_file.h"
#include "dist/threads/threads.h"

namespace tg {

// A worker's thread walks through all shards, in their order: to hand in its message and take new parameters, or to
// leave the run. A Visit is what it carries from shard to shard.
struct ShardServer::Visit {
  enum class Kind { taken, refused, leaving };
  Kind kind;
  Seat& from;
  std::span<const WorkerId> released;
  std::string reason{};  // why it leaves

  // Filled in during the visit.
  UpdateRecord record{};
  bool measure_gap = false;
  double squares = 0;  // of the gap's elements, summed over the shards so far
  int64_t evaluation = 0;
  std::optional<Mail::Copy> copy{};
};

namespace {

// Of the message of `from`, which is at the first shard.
UpdateRecord record_of(const Seat& from, const Shard& first, double now) {
  UpdateRecord record = first.record(from.id);
  record.loss = from.side->outcome().loss;
  record.time = now;
  record.bytes_up = from.side->outcome().bytes;
  record.bytes_down = from.bytes_down;
  return record;
}

}  // namespace

ShardServer::ShardServer(RunState& run, int shards)
    : run_(run),
      job_(run.job),
      gate_(make_gate(run.job)),
      next_evaluation_(job_.evaluate_every > 0 ? job_.evaluate_every : std::numeric_limits<int64_t>::max()) {
  for (Shard& shard : make_shards(job_, shards, "threads")) shards_.emplace_back(std::move(shard));
}

Seat& ShardServer::seat(WorkerId id) {
  require(id >= 0 && id < job_.workers, "threads: the rule's gate lets worker {} go on, which does not exist", id);
  return run_.seats[static_cast<size_t>(id)];
}

void ShardServer::open() {
  Release released;
  for (Seat& seat : run_.seats) {
    for (Locked& at : shards_) at.record(at.shard.join(seat.id), 0);
    for (const WorkerId id : gate_->join(seat.id)) released.push_back(id);
  }
  for (const WorkerId id : released) {
    seat(id).batch = next_batch();
    for (Locked& at : shards_) send(at, seat(id), 0);
    seat(id).ready = true;
  }
  if (!gate_->waits()) gate_.reset();
}

void ShardServer::save(SnapshotWriter to) const {
  for (size_t s = 0; s < shards_.size(); ++s) shards_[s].shard.save(to.part(fmt::format("shard{}", s)));
  if (gate_) gate_->save(to);
  to.write("assigned", assigned_);
  to.write("evaluations", evaluations_);
  if (job_.evaluate_every > 0) to.write("next_evaluation", next_evaluation_);
}

void ShardServer::load(const SnapshotReader& from) {
  for (size_t s = 0; s < shards_.size(); ++s) {
    Shard& shard = shards_[s].shard;
    shard.load(from.part(fmt::format("shard{}", s)));
    from.require_here(shard.accepted() == shards_[0].shard.accepted(), "shard {} took in {} messages, the first one {}",
                      s, shard.accepted(), shards_[0].shard.accepted());
    for (const Seat& seat : run_.seats)
      from.require_here(shard.joined(seat.id) == seat.present && shard.at_work(seat.id) == seat.ready,
                        "worker {} is elsewhere than shard {} knows it", seat.id, s);
  }
  if (gate_->waits())
    gate_->load(from);
  else
    gate_.reset();
  run_.taken = shards_[0].shard.accepted();
  assigned_ = from.read("assigned", 0, kMostCounted);
  evaluations_ = from.read("evaluations", 0, kMostCounted);
  if (job_.evaluate_every > 0) next_evaluation_ = from.read("next_evaluation");
}

// Under the gate's lock: a worker may be marked ready, by the one that releases it, while its state still says that it
// waits.
bool ShardServer::at_rest() const {
  const std::lock_guard lock(gate_mutex_);
  return std::all_of(run_.seats.begin(), run_.seats.end(), [](const Seat& seat) {
    const Seat::State state = seat.state;
    return state == Seat::State::resting || state == Seat::State::gone ||
           (state == Seat::State::waiting && !seat.ready);
  });
}

bool ShardServer::begin(Seat& seat) {
  if (!gate_) return true;
  std::unique_lock lock(gate_mutex_);
  return wait_for_release(seat, lock);
}

bool ShardServer::wait_for_release(Seat& seat, std::unique_lock<std::mutex>& gate_lock) {
  if (!seat.ready && !run_.over) {
    seat.enter(Seat::State::waiting, run_.seconds());
    seat.released.wait(gate_lock, [&] { return seat.ready || run_.over; });
  }
  return !run_.over;
}

bool ShardServer::exchange(Seat& from) {
  const int64_t task = from.tasks - 1;
  Visit visit{.kind = Visit::Kind::taken,
              .from = from,
              .released = {&from.id, 1},
              .measure_gap = (task + from.id) % kGapShare == 0};
  if (!gate_) {
    if (!this->visit(visit)) return false;
    post(visit);
    return !run_.over;
  }

  std::unique_lock lock(gate_mutex_);
  if (run_.over) return false;
  Verdict verdict;
  if (std::isfinite(from.side->outcome().loss)) verdict = gate_->arrive(from.id, from.messages++);
  if (!verdict.taken) {
    visit.kind = Visit::Kind::refused;
    from.side->not_taken();
  }
  visit.released = verdict.release;
  from.ready = false;
  if (this->visit(visit) && verdict.taken) post(visit);
  wake(verdict.release);
  return wait_for_release(from, lock);
}

void ShardServer::leave(Seat& seat, std::string reason) {
  std::unique_lock<std::mutex> lock;
  Release released;
  if (gate_) {
    lock = std::unique_lock(gate_mutex_);
    if (!run_.over) released = gate_->leave(seat.id);
  }
  Visit visit{.kind = Visit::Kind::leaving, .from = seat, .released = released, .reason = reason};
  if (!this->visit(visit)) run_.send(LostWorker{seat.id, run_.taken, std::move(reason)});
  wake(released);
}

bool ShardServer::visit(Visit& visit) {
  for (Locked& at : shards_) {
    const std::lock_guard lock(at.mutex);
    const bool first = &at == &shards_.front();
    if (first && run_.over) return false;
    const double now = run_.seconds();
    // Checked only here, under the lock, where it is known which update this would have been.
    if (first && visit.kind == Visit::Kind::taken && !std::isfinite(visit.from.side->outcome().loss)) {
      run_.over = true;
      run_.end(History::Status::diverged,
               fmt::format("at update {}: {}", at.shard.accepted(), visit.from.side->trouble(visit.from.batch)));
      return false;
    }
    hand_in(visit, at, now);
    if (first) decide(visit, at.shard, now);
    for (const WorkerId id : visit.released) send(at, seat(id), now);
    if (visit.copy) copy(visit, at, now);
  }
  return true;
}

void ShardServer::hand_in(Visit& visit, Locked& at, double now) {
  const WorkerId id = visit.from.id;
  if (visit.kind == Visit::Kind::leaving) {
    if (&at == &shards_.front()) run_.send(LostWorker{id, at.shard.accepted(), visit.reason});
    return at.record(at.shard.leave(id), now);
  }
  const WorkerSide& side = *visit.from.side;
  if (visit.kind == Visit::Kind::refused) return at.record(at.shard.refuse(id, side.outcome().loss), now);

  if (&at == &shards_.front()) visit.record = record_of(visit.from, at.shard, now);
  if (visit.measure_gap) visit.squares += at.shard.squared_gap(id, side.sent());
  at.record(at.shard.take(id, side.message(), side.sent(), side.ahead(), side.outcome().loss), now);
}

// Decides at the first shard what must be the same for all shards: batches, the run's last message, evaluations.
void ShardServer::decide(Visit& visit, const Shard& first, double now) {
  const int64_t messages = first.accepted(), gradients = job_.gradients_of(messages);
  const bool last = messages == job_.messages();
  for (const WorkerId id : visit.released) {
    require(!first.at_work(id), "threads: the rule's gate lets worker {} go on, which is at work", id);
    seat(id).batch = last ? -1 : next_batch();
  }
  if (visit.kind != Visit::Kind::taken) return;
  run_.taken = messages;
  if (last) {
    run_.over = true;
    run_.end(History::Status::finished, "");
  } else if (gradients >= next_evaluation_ && run_.may_copy()) {
    visit.evaluation = evaluations_++;
    visit.copy = {messages, now, Tensor::empty({job_.task->layout().size()})};
    ++run_.copies;
    next_evaluation_ = (gradients / job_.evaluate_every + 1) * job_.evaluate_every;
  }
}

// Writes this shard's part of what `to` works from next. decide() has written the number of its batch to the seat.
void ShardServer::send(Locked& at, Seat& to, double now) {
  const bool first = &at == &shards_.front();
  const float rate = first ? job_.schedule.rate(job_.gradients_of(at.shard.accepted())) : to.info.learning_rate;
  const Span reply = to.side->reply();
  at.record(to.batch < 0 ? at.shard.release(to.id, rate, reply) : at.shard.assign(to.id, to.batch, rate, reply), now);
  if (first) to.info = at.shard.told(to.id);
}

void ShardServer::copy(Visit& visit, Locked& at, double now) {
  const View theta = at.shard.theta();
  std::copy(theta.begin(), theta.end(), at.shard.range().part_of(visit.copy->theta.span()).begin());
  at.record(at.shard.evaluate(visit.evaluation), now);
}

// Reports the update to the engine's own thread.
void ShardServer::post(const Visit& visit) {
  UpdateRecord record = visit.record;
  record.gap = visit.measure_gap ? root_mean_square(visit.squares, gap_coordinates(job_))
                                 : std::numeric_limits<double>::quiet_NaN();
  if (visit.copy)
    run_.send(record, *visit.copy);
  else
    run_.send(record);
}

void ShardServer::wake(std::span<const WorkerId> released) {
  for (const WorkerId id : released) {
    seat(id).ready = true;
    seat(id).released.notify_one();
  }
  if (!run_.over) return;
  for (Seat& seat : run_.seats) seat.released.notify_one();
}

void ShardServer::end(History::Status status, const std::string& message) {
  const std::lock_guard gate_lock(gate_mutex_);
  {
    const std::lock_guard lock(shards_.front().mutex);
    if (!run_.over.exchange(true)) run_.end(status, message);
  }
  wake({});
}

void ShardServer::report_events(Observer& observer) {
  for (size_t s = 0; s < shards_.size(); ++s) {
    {
      const std::lock_guard lock(shards_[s].mutex);
      std::swap(shards_[s].events, telling_);
    }
    for (const Event& event : telling_) observer.on_event(static_cast<int>(s), event);
    telling_.clear();
  }
}

Tensor ShardServer::last_copy() {
  Tensor copy = Tensor::empty({job_.task->layout().size()});
  for (const Locked& at : shards_) {
    const View theta = at.shard.theta();
    std::copy(theta.begin(), theta.end(), at.shard.range().part_of(copy.span()).begin());
  }
  return copy;
}

void ShardServer::close(bool finished, double now) {
  for (Locked& at : shards_) {
    if (finished) at.record(at.shard.evaluate(evaluations_), now);
    at.record(at.shard.end(finished ? Event::Kind::finish : Event::Kind::stop), now);
  }
}

double ShardServer::update_seconds() const {
  double seconds = 0;
  for (const Locked& at : shards_) seconds += at.shard.seconds();
  return seconds;
}

}  // namespace tg
