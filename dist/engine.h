#pragma once
// What every engine is given and what it returns: simulate(job, options, observer) -> History, and run_threads() and
// replay() likewise.

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

// The configuration of a run, except what only one engine needs (the simulator's clock, the threads' cores).
struct Job {
  const Task* task = nullptr;
  const Rule* rule = nullptr;
  // Makes the gate, if it is to be another one than the rule's own; empty: the rule's own gate.
  std::function<std::unique_ptr<Gate>()> gate{};
  // Make the codecs: "up" is from worker to server (messages), "down" is from server to worker (replies). Each worker
  // gets a codec of its own for each direction.
  std::function<std::unique_ptr<Codec>(const Layout&)> codec_up, codec_down;
  Schedule schedule{Schedule::Options{}};
  int workers = 1;
  int64_t gradients = 0;       // minibatch gradients to accept; the run ends with the last one
  int64_t evaluate_every = 0;  // gradients between evaluations; 0: none. One more always follows the last gradient
  // Gradients between snapshots; 0: none. Unless it is 0, one more is taken when the observer stops the run.
  int64_t snapshot_every = 0;
  SnapshotFile* resume = nullptr;  // the snapshot from which the run goes on; null: a new run
  uint64_t seed = 1;
  // OpenMP threads that compute one gradient. Part of the configuration, since the last bits of oneDNN's results depend
  // on this number.
  int threads_per_worker = 1;
  double clip_norm = 0;    // a gradient that is longer is shortened to this 2-norm, by its worker; 0: none is
  bool exact_gap = false;  // gaps are measured over all parameters, not over some of them (gap_meter.h)

  // Gradients travel in messages of rule->batches() each. The run is over when so many messages are taken in; they
  // count as that many gradients each, the last as those that are left.
  int64_t messages() const;
  int64_t gradients_of(int64_t messages) const;
  // How many minibatches the message has that begins with batch number `first`: those that are left where it is the
  // last one of a run in order.
  int64_t batches_of(int64_t first) const;
  // Something that is due every so many gradients (0: never) is due with this message.
  bool due(int64_t every, int64_t messages) const;
};

// Is told what happens while a run is under way. Never called by two threads at the same time.
class Observer {
 public:
  virtual ~Observer() = default;
  // What events.bin records. Calls for one shard are in the order of its events; between shards there is no order.
  virtual void on_event(int /*shard*/, const Event&) {}
  // A message was taken in. In the order of UpdateRecord::update.
  virtual void on_update(const UpdateRecord&) {}
  virtual void on_evaluation(const EvaluationRecord&) {}
  // A sentence for the user, at once: a worker is lost, or the run waits for one.
  virtual void on_note(const std::string&) {}
  // The state of the run after `gradients` messages. The observer has been told everything that happened before, and
  // nothing that happened after. It may add what it needs for going on itself, and should write the snapshot to a file.
  virtual void on_snapshot(Snapshot& /*snapshot*/, int64_t /*gradients*/) {}
  // Asked before each update; true ends the run with status stopped.
  virtual bool stop() { return false; }
  // The simulator and replay() ask before a shard takes in this worker's message. The returned object is told the terms
  // of the step (Update::explain); null: the terms are not computed. `theta` is the shard's part, before the step.
  virtual Terms* explain_to(int /*shard*/, WorkerId, int64_t /*batch*/, View /*theta*/) { return nullptr; }
  // replay() asks before a worker computes the message that begins with this batch. The returned object is told the
  // terms of the message (Worker::explain) on the thread that then computes it: for each message another object. null:
  // the terms are not computed.
  virtual Terms* explain_work_to(WorkerId, int64_t /*batch*/) { return nullptr; }
};

// Throws Error, whose message starts with `engine`, for a job that no engine can run.
void check_job(const Job& job, const char* engine);

// How many threads compute gradients ahead of time: `asked`, or if that is 0, the number of cores that the caller may
// use divided by job.threads_per_worker, at least 1 and at most workers + 1. Throws Error, whose message starts with
// `engine`, unless `asked` is from 0 to 4096.
int pool_threads(const Job& job, int asked, const char* engine);

// job.gate(), or the rule's own gate where that is empty.
std::unique_ptr<Gate> make_gate(const Job& job);
// [size of the task's layout]: the initial parameters for the job's seed, zero in the gaps between tensors.
Tensor initial_parameters(const Job& job);
// A new vector, on the host, with the same elements.
Tensor copy_of(View values);

}  // namespace tg
