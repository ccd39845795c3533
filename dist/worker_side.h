#pragma once
// The worker's end of a run, whatever the engine: its part of the rule, its codecs and its buffers.

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

  // The server writes its reply here, each shard its own part. receive() then turns it into what the worker decodes,
  // and returns the bytes that travelled. `step` counts the worker's tasks.
  Span reply() { return sent_.span(); }
  int64_t receive(int64_t step);
  // What the worker works from, until the next reply.
  View sent() const { return sent_.view(); }

  // The bytes of every message, where its codec makes always as many.
  std::optional<int64_t> fixed_bytes() const;

  struct Outcome {
    double loss = 0;  // of the batch, at the point where the rule asked for its gradient first
    int64_t bytes = 0;
    std::string where;  // of a loss that is not finite: what else is so first, in words, if the task can tell
  };
  // "worker 3's loss is inf (batch 27); first not finite: exp [32, 10], after fc1"
  std::string trouble(int64_t batch) const;
  // Computes the message from what was sent. Depends on nothing else, so it may run on any thread, while others do too.
  // Throws what the task throws, and Error if the rule asks for no gradient.
  void work(int64_t step, int64_t batch, const StepInfo& info);
  const Outcome& outcome() const { return outcome_; }
  // As the server decodes it.
  View message() const { return message_.view(); }
  void not_taken();
  double seconds() const { return seconds_; }  // inside Worker::work, over all tasks

  // Its part of the rule, its codecs, what it was sent; and the message, if it has one that was not taken in yet.
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
