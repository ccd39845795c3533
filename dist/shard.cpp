#include "dist/shard.h"

#include <chrono>
#include <utility>

#include "dist/history/measure.h"
#include "dist/snapshot/fields.h"

namespace tg {
namespace {

// Adds the time from its construction to its destruction to `seconds`.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  const Clock::time_point start_ = Clock::now();
};

}  // namespace

Shard::Shard(const Job& job, ShardRange range, View initial)
    : job_(job),
      range_(std::move(range)),
      update_(job.rule->update(range_.layout, range_.part_of(initial))),
      gap_(job, range_),
      slots_(static_cast<size_t>(job.workers)) {}

size_t Shard::place(WorkerId worker) const {
  require(worker >= 0 && worker < job_.workers, "the rule's gate lets worker {} go on, which does not exist", worker);
  return static_cast<size_t>(worker);
}

bool Shard::at_work(WorkerId worker) const { return slot(worker).working; }

UpdateRecord Shard::record(WorkerId worker) const {
  return {.update = accepted_,
          .worker = worker,
          .batch = batch(worker),
          .gradients = job_.gradients_of(accepted_ + 1) - job_.gradients_of(accepted_),
          .lag = lag(worker),
          .learning_rate = told(worker).learning_rate};
}

Event Shard::event(Event::Kind kind, WorkerId worker) const {
  return {.kind = kind, .worker = worker, .batch = -1, .version = accepted_};
}

Event Shard::join(WorkerId worker) {
  require(!slot(worker).joined, "worker {} joins twice", worker);
  slot(worker) = {.joined = true};
  ++live_;
  update_->join(worker);
  return event(Event::Kind::join, worker);
}

Event Shard::leave(WorkerId worker) {
  require(slot(worker).joined, "worker {} leaves but has not joined", worker);
  slot(worker) = {};
  --live_;
  update_->leave(worker);
  gap_.leave(worker);
  return event(Event::Kind::leave, worker);
}

Event Shard::arrived(WorkerId worker, bool taken, double loss) {
  Slot& from = slot(worker);
  from.working = false;
  Event event = this->event(Event::Kind::arrive, worker);
  event.taken = taken;
  event.batch = from.batch;
  event.learning_rate = from.told.learning_rate;
  event.loss = loss;
  return event;
}

StepInfo Shard::info(WorkerId worker, View sent) const {
  StepInfo info = told(worker);
  info.accepted = job_.gradients_of(accepted_);
  info.workers = live_;
  info.lag = lag(worker);
  if (job_.rule->needs_sent()) info.sent = range_.part_of(sent);
  return info;
}

void Shard::explain(WorkerId worker, View message, View sent, Terms& terms) const {
  update_->explain(worker, range_.part_of(message), info(worker, sent), terms);
}

Event Shard::take(WorkerId worker, View message, View sent, View ahead, double loss) {
  {
    const Stopwatch stopwatch(seconds_);
    update_->apply(worker, range_.part_of(message), info(worker, sent));
  }
  gap_.take(worker, ahead.empty() ? ahead : range_.part_of(ahead));
  ++accepted_;
  if (update_->theta_changed()) ++changes_;
  return arrived(worker, true, loss);
}

Event Shard::refuse(WorkerId worker, double loss) { return arrived(worker, false, loss); }

void Shard::reply(WorkerId worker, float learning_rate, Span reply) {
  Slot& to = slot(worker);
  require(!to.working, "the rule's gate lets worker {} go on, which is at work", worker);
  to.told = {.learning_rate = learning_rate,
             .peak_learning_rate = job_.schedule.peak(),
             .accepted = job_.gradients_of(accepted_),
             .workers = live_,
             .sent = {}};
  to.changes = changes_;
  const Stopwatch stopwatch(seconds_);
  update_->reply(worker, range_.part_of(reply), to.told);
}

Event Shard::assign(WorkerId worker, int64_t batch, float learning_rate, Span reply) {
  this->reply(worker, learning_rate, reply);
  slot(worker).working = true;
  slot(worker).batch = batch;
  Event event = this->event(Event::Kind::assign, worker);
  event.batch = batch;
  event.learning_rate = learning_rate;
  return event;
}

Event Shard::release(WorkerId worker, float learning_rate, Span reply) {
  this->reply(worker, learning_rate, reply);
  Event event = this->event(Event::Kind::release, worker);
  event.learning_rate = learning_rate;
  return event;
}

Event Shard::evaluate(int64_t evaluation) const {
  Event event = this->event(Event::Kind::evaluate, -1);
  event.batch = evaluation;
  event.theta_hash = hash_of(theta());
  return event;
}

Event Shard::end(Event::Kind kind) const {
  Event event = this->event(kind, -1);
  event.theta_hash = hash_of(theta());
  return event;
}

constexpr auto Shard::slot_fields() {
  return std::tuple(Field("joined", &Slot::joined), Field("working", &Slot::working), Field("batch", &Slot::batch),
                    Field("changes", &Slot::changes));
}

void Shard::save(SnapshotWriter to) const {
  update_->save(to);
  SnapshotWriter gap = to.part("gap"), server = to.part("server");
  gap_.save(gap);
  server.write("accepted", accepted_);
  server.write("changes", changes_);
  server.write_real("seconds", seconds_);
  std::vector<StepInfo> told;
  for (const Slot& slot : slots_) told.push_back(slot.told);
  write_records(server, "told", told, kStepInfoFields);
  write_records(server, "workers", slots_, slot_fields());
}

void Shard::load(const SnapshotReader& from) {
  update_->load(from);
  gap_.load(from.part("gap"));
  const SnapshotReader server = from.part("server");
  accepted_ = server.read("accepted", 0, job_.messages() - 1);
  changes_ = server.read("changes", 0, accepted_);
  seconds_ = server.read_real("seconds");
  const std::vector<StepInfo> told = read_records(server, "told", kStepInfoFields);
  slots_ = read_records(server, "workers", slot_fields());
  server.require_here(std::ssize(slots_) == job_.workers && told.size() == slots_.size(), "{} workers; the job has {}",
                      slots_.size(), job_.workers);
  live_ = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.told = told[i];
    server.require_here((slot.joined || !slot.working) && slot.batch >= -1 && slot.changes >= 0 &&
                            slot.changes <= changes_ && slot.told.accepted >= 0 &&
                            slot.told.accepted <= job_.gradients_of(accepted_),
                        "the state of worker {} contradicts itself or the shard's: batch {}, accepted {}, changes {}",
                        i, slot.batch, slot.told.accepted, slot.changes);
    live_ += slot.joined;
  }
}

std::vector<Shard> make_shards(const Job& job, int shards, const char* engine) {
  require(shards == 1 || job.rule->shardable(), "{}: this rule needs the whole vector: give it 1 shard, not {}", engine,
          shards);
  const Tensor initial = initial_parameters(job);
  std::vector<Shard> made;
  for (ShardRange& range : cut_shards(job.task->layout(), shards))
    made.emplace_back(job, std::move(range), initial.view());
  return made;
}

}  // namespace tg
