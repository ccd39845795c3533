#pragma once
// One shard of the server: its part of the parameters, the rule's Update for it, and what it knows of each worker. The
// same for every engine; it holds no lock, so whoever shares it must.

#include <memory>
#include <vector>

#include "dist/engine.h"
#include "dist/shards.h"

namespace tg {

class Shard {
 public:
  // `initial`: all parameters of the job, which must outlive this.
  Shard(const Job& job, ShardRange range, View initial);

  const ShardRange& range() const { return range_; }
  View theta() const { return update_->theta(); }
  int64_t accepted() const { return accepted_; }  // messages taken in so far
  double seconds() const { return seconds_; }     // inside Update::apply and Update::reply
  bool joined(WorkerId worker) const { return slot(worker).joined; }
  // Was sent parameters, and its message has not come.
  bool at_work(WorkerId worker) const;
  // What `worker` was told with the parameters that it works from.
  const StepInfo& told(WorkerId worker) const { return slot(worker).told; }
  int64_t batch(WorkerId worker) const { return slot(worker).batch; }
  // Updates of theta since then.
  int64_t lag(WorkerId worker) const { return changes_ - slot(worker).changes; }
  // Sum of the squares of (theta - what was sent), over this shard.
  double squared_gap(View sent) const;

  // What happens, in the order of rule.h. Each returns the event to record, without its time. `message`, `sent` and
  // `reply` are whole vectors of the worker, of which only this shard's part is looked at.
  Event join(WorkerId worker);
  Event leave(WorkerId worker);
  // Says what take() of the same message is going to do.
  void explain(WorkerId worker, View message, View sent, Terms& terms) const;
  // Applies the message.
  Event take(WorkerId worker, View message, View sent, double loss);
  // The gate does not take the message.
  Event refuse(WorkerId worker, double loss);
  // Writes what the worker works from next, on that batch. Throws Error if it is at work.
  Event assign(WorkerId worker, int64_t batch, float learning_rate, Span reply);
  // The same at the end of a run, when no batch is left: it is not sent.
  Event release(WorkerId worker, float learning_rate, Span reply);
  // Theta was copied for evaluation number `evaluation`.
  Event evaluate(int64_t evaluation) const;
  // The run is over: `finish` or `stop`.
  Event end(Event::Kind kind) const;

  // The rule's state, and what is known of each worker.
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);

 private:
  struct Slot {
    bool joined = false, working = false;
    StepInfo told{};
    int64_t batch = -1;
    int64_t changes = 0;  // of theta, before the parameters were sent
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
  std::vector<Slot> slots_;  // by worker
  int live_ = 0;             // workers
  int64_t accepted_ = 0, changes_ = 0;
  double seconds_ = 0;
};

// All of them, with the job's initial parameters. Throws Error, which begins with the engine's name, unless the task
// and the rule can be sharded so.
std::vector<Shard> make_shards(const Job& job, int shards, const char* engine);

}  // namespace tg
