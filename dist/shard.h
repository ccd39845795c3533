#pragma once
// Shard: one shard of the server, which is its part of the parameters, the rule's Update for it, and what was sent to
// each worker. All engines use it. It has no lock of its own: an engine with threads must lock around each call.

#include <memory>
#include <vector>

#include "dist/engine.h"
#include "dist/gap_meter.h"
#include "dist/shards.h"

namespace tg {

class Shard {
 public:
  // `initial`: all parameters of the job, of which the shard copies its part. `job` must outlive the shard.
  Shard(const Job& job, ShardRange range, View initial);

  const ShardRange& range() const { return range_; }
  View theta() const { return update_->theta(); }
  int64_t accepted() const { return accepted_; }  // messages taken in so far
  double seconds() const { return seconds_; }     // of wall time spent in Update::apply and Update::reply
  bool joined(WorkerId worker) const { return slot(worker).joined; }
  // True from assign() until the worker's message arrives.
  bool at_work(WorkerId worker) const;
  // What `worker` was told with the parameters that it works from.
  const StepInfo& told(WorkerId worker) const { return slot(worker).told; }
  // Number of the batch that `worker` was sent last.
  int64_t batch(WorkerId worker) const { return slot(worker).batch; }
  // How often theta has changed since `worker` was sent its parameters.
  int64_t lag(WorkerId worker) const { return changes_ - slot(worker).changes; }
  // Of the message that comes next from `worker`, what is known here of it and its update.
  UpdateRecord record(WorkerId worker) const;
  // Its part of the gap of that message: the sum of squares of GapMeter.
  double squared_gap(WorkerId worker, View sent) { return gap_.squares(worker, theta(), range_.part_of(sent)); }

  // What can happen at a shard; rule.h says in which order. Each call returns the event to record, whose time the
  // engine fills in. `message`, `sent`, `ahead` and `reply` are the worker's whole vectors; the shard uses only its
  // part of them.
  Event join(WorkerId worker);
  Event leave(WorkerId worker);
  // Tells `terms` what the step consists of that take() of the same message is going to make.
  void explain(WorkerId worker, View message, View sent, Terms& terms) const;
  // The gate takes the message: applies it to theta. `loss` is that of the worker's batch, `ahead` what its
  // Worker::ahead() says; may be empty.
  Event take(WorkerId worker, View message, View sent, View ahead, double loss);
  // The gate refuses the message: theta stays as it is.
  Event refuse(WorkerId worker, double loss);
  // Sends the worker on: writes to `reply` what it works from next, on batch number `batch`. Throws Error if it is at
  // work already.
  Event assign(WorkerId worker, int64_t batch, float learning_rate, Span reply);
  // The same at the end of a run, when no batch is left: the reply is computed, but not sent.
  Event release(WorkerId worker, float learning_rate, Span reply);
  // Theta was copied for evaluation number `evaluation`.
  Event evaluate(int64_t evaluation) const;
  // The run is over; `kind` is Event::Kind::finish or stop.
  Event end(Event::Kind kind) const;

  // The state of the rule's Update, and what was sent to each worker.
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);

 private:
  struct Slot {
    bool joined = false, working = false;
    StepInfo told{};
    int64_t batch = -1;
    int64_t changes = 0;  // value of changes_ when the parameters were sent
  };
  static constexpr auto slot_fields();
  size_t place(WorkerId worker) const;
  const Slot& slot(WorkerId worker) const { return slots_[place(worker)]; }
  Slot& slot(WorkerId worker) { return slots_[place(worker)]; }
  Event event(Event::Kind kind, WorkerId worker) const;
  StepInfo info(WorkerId worker, View sent) const;
  Event arrived(WorkerId worker, bool taken, double loss);
  void reply(WorkerId worker, float learning_rate, Span reply);

  const Job& job_;
  ShardRange range_;
  std::unique_ptr<Update> update_;
  GapMeter gap_;
  std::vector<Slot> slots_;  // by worker
  int live_ = 0;             // workers that have joined and not left
  int64_t accepted_ = 0;     // messages taken in
  int64_t changes_ = 0;      // changes of theta: fewer than accepted_ for rules that collect messages first
  double seconds_ = 0;
};

// All shards of the job's initial parameters. Throws Error if the rule cannot be sharded (its message starts with
// `engine`), or if the task has fewer tensors than `shards`.
std::vector<Shard> make_shards(const Job& job, int shards, const char* engine);

}  // namespace tg
