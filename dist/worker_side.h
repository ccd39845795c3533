#pragma once
// WorkerSide: what one worker has in any engine: the Worker of the rule, the codecs of both directions, and its
// vectors.

#include <memory>
#include <optional>

#include "dist/engine.h"
#include "framework/core/tensor.h"

namespace tg {

// What a worker's task number `step` draws from.
Stream worker_stream(const Job& job, WorkerId worker, int64_t step);

class WorkerSide {
 public:
  WorkerSide(WorkerId id, const Job& job);

  // The buffer into which the shards write their parts of the reply. receive() then replaces its content by what the
  // worker decodes from it, and returns the number of encoded bytes. `step` counts the worker's tasks from 0.
  Span reply() { return sent_.span(); }
  int64_t receive(int64_t step);
  // The decoded reply: the parameters from which the worker computes, until the next reply.
  View sent() const { return sent_.view(); }

  // The encoded bytes of a message, if the codec makes the same number for every message; otherwise none.
  std::optional<int64_t> fixed_bytes() const;

  struct Outcome {
    double loss = 0;    // of the batch, where the rule asked for its gradient first; or one that is not finite
    int64_t bytes = 0;  // of the encoded message
    std::string where;  // Task::where_not_finite() if the loss is not finite
  };
  // For the message of a run that diverged: "worker 3's loss is inf (batch 27); first not finite: exp [32, 10], after
  // fc1"
  std::string trouble(int64_t batch) const;
  // Computes the message from sent(). It uses nothing that another worker writes, so different workers may do this on
  // different threads at the same time. Throws what the task throws, and Error if the rule asks for no gradient.
  void work(int64_t step, int64_t batch, const StepInfo& info);
  const Outcome& outcome() const { return outcome_; }
  // The message as the server decodes it.
  View message() const { return message_.view(); }
  // The gate has refused the message: rule and codec take back what they kept of it.
  void not_taken();
  double seconds() const { return seconds_; }  // of wall time in Worker::work, over all tasks

  // The states of rule and codecs, and sent(). If `has_message`, also a message that has not arrived at the server yet.
  void save(SnapshotWriter to, bool has_message) const;
  void load(const SnapshotReader& from, bool has_message);

 private:
  Stream stream(int64_t step) const;

  WorkerId id_;
  const Job& job_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Codec> up_, down_;
  Tensor sent_, message_;
  Outcome outcome_;
  double seconds_ = 0;
};

}  // namespace tg
