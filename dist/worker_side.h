#pragma once
// WorkerSide: what one worker has in any engine: the Worker of the rule, the codecs of both directions, and its
// vectors.

#include <memory>
#include <optional>

#include "dist/engine.h"
#include "framework/core/tensor.h"

namespace tg {

// What a worker draws from for its minibatch number `step`.
Stream worker_stream(const Job& job, WorkerId worker, int64_t step);

class WorkerSide {
 public:
  WorkerSide(WorkerId id, const Job& job);

  // The buffer into which the shards write their parts of the reply. receive() then makes sent() what the worker has
  // of it, and returns the number of encoded bytes: of float32 for the first reply; from then on, where the codec loses
  // something, of the difference to sent(), so that what was lost once is made up for by the next. `task` counts the
  // worker's tasks from 0.
  Span reply() { return down_->exact() ? sent_.span() : reply_.span(); }
  int64_t receive(int64_t task);
  // The decoded reply: the parameters from which the worker computes, until the next reply.
  View sent() const { return sent_.view(); }

  // The encoded bytes of a message, if the codec makes the same number for every message; otherwise none.
  std::optional<int64_t> fixed_bytes() const;

  struct Outcome {
    double loss = 0;    // mean over the batches, each where the rule first asked for its gradient; or not finite
    int64_t bytes = 0;  // of the encoded message
    std::string where;  // Task::where_not_finite() if the loss is not finite
  };
  // For the message of a run that diverged: "worker 3's loss is inf (batch 27); first not finite: exp [32, 10], after
  // fc1"
  std::string trouble(int64_t batch) const;
  // Computes the message from sent(). It uses nothing that another worker writes, so different workers may do this on
  // different threads at the same time. Throws what the task throws, and Error if the rule does not ask for a
  // gradient of each batch. `batch` is the first.
  void work(int64_t task, int64_t batch, const StepInfo& info);
  // Tells `terms` what the message is made of that work() of the same arguments is going to compute. It asks for the
  // gradients of the same batches with the same random draws, and changes nothing.
  void explain(int64_t task, int64_t batch, const StepInfo& info, Terms& terms) const;
  const Outcome& outcome() const { return outcome_; }
  // The message as the server decodes it.
  View message() const { return message_.view(); }
  // Worker::ahead() as of this message; valid until the next task.
  View ahead() const { return worker_->ahead(); }
  // The gate has refused the message: rule and codec take back what they kept of it.
  void not_taken();
  double seconds() const { return seconds_; }  // of wall time in Worker::work, over all tasks

  // The states of rule and codecs, and sent(). If `has_message`, also a message that has not arrived at the server yet.
  void save(SnapshotWriter to, bool has_message) const;
  void load(const SnapshotReader& from, bool has_message);

 private:
  // Of the worker's minibatch number `step`, and of what travels with the first of a task.
  Stream stream(int64_t step) const;
  int64_t first_step(int64_t task) const { return task * job_.rule->batches(); }

  WorkerId id_;
  const Job& job_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Codec> up_, down_;
  Tensor sent_, message_;
  Tensor reply_;  // undefined where it is sent_ itself
  Outcome outcome_;
  double seconds_ = 0;
};

}  // namespace tg
