#pragma once
// What every engine is given and what it gives back: simulate(job, options, observer) -> History, and the others
// likewise.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/history/history.h"
#include "dist/task.h"
#include "framework/core/tensor.h"
#include "optim/compress/codec.h"
#include "optim/rule.h"
#include "optim/schedule.h"

namespace tg {

class Snapshot;
class SnapshotFile;
class SnapshotReader;
class SnapshotWriter;

// A run's whole configuration apart from the engine's own part (a clock, addresses, cores).
struct Job {
  const Task* task = nullptr;
  const Rule* rule = nullptr;
  // Makes another gate than the rule's own; empty: the rule's.
  std::function<std::unique_ptr<Gate>()> gate{};
  // Make what messages (up) and replies (down) go through; one codec for each worker.
  std::function<std::unique_ptr<Codec>(const Layout&)> codec_up, codec_down;
  Schedule schedule{Schedule::Options{}};
  int workers = 1;
  int64_t gradients = 0;       // minibatch gradients to accept; the run ends with the last one
  int64_t evaluate_every = 0;  // gradients between evaluations; 0: only at the end. There is always one at the end
  // Gradients between snapshots; 0: none. Otherwise there is one more where the observer stops the run.
  int64_t snapshot_every = 0;
  SnapshotFile* resume = nullptr;  // where the run goes on; null: it begins
  uint64_t seed = 1;
  // OpenMP threads in a gradient: part of the configuration, since oneDNN's bits depend on it.
  int threads_per_worker = 1;
};

// Hears of a run while it lives. Called from one thread at a time, in order.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(int /*shard*/, const Event&) {}  // everything that events.bin records, in each shard's order
  virtual void on_update(const UpdateRecord&) {}         // a message was taken in
  virtual void on_evaluation(const EvaluationRecord&) {}
  virtual void on_note(const std::string&) {}  // what the user should know at once: a worker is lost, or waited for
  // All that the run is at a moment up to which everything has been told, and nothing after it: to be added to, and
  // written. `gradients` were taken in.
  virtual void on_snapshot(Snapshot& /*snapshot*/, int64_t /*gradients*/) {}
  virtual bool stop() { return false; }  // asked before each update: true ends the run cleanly
  // Asked by the simulator and by a replay before a shard takes a message in: whom to tell the terms of its step
  // (Update::explain); null: nobody. `theta` is the shard's part, to which the step will be applied.
  virtual Terms* explain_to(int /*shard*/, WorkerId, int64_t /*batch*/, View /*theta*/) { return nullptr; }
};

// Throws Error, which begins with the engine's name, for a job that cannot run.
void check_job(const Job& job, const char* engine);

// How many threads compute gradients ahead: as asked, or if that is 0, one for each job.threads_per_worker cores that
// the caller may use. Throws Error, likewise, outside of 0 to 4096.
int pool_threads(const Job& job, int asked, const char* engine);

std::unique_ptr<Gate> make_gate(const Job& job);
Tensor initial_parameters(const Job& job);
Tensor copy_of(View values);

}  // namespace tg
