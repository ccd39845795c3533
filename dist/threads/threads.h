#pragma once
// The threads engine: a parameter server in one process, with a thread for each worker. The asynchrony is real: the
// order of the updates is decided by the machine, and is another one in each run.

#include "dist/engine.h"

namespace tg {

// The gap is measured for one message in so many of each worker, since it takes a pass over the parameters during which
// other workers wait. A replay of the run's events measures every gap.
inline constexpr int64_t kGapShare = 16;

struct ThreadsOptions {
  int shards = 1;  // parts of the parameters that can be updated at the same time
  // Cores for the workers: the first job.threads_per_worker for worker 0, the next for worker 1 and so on, from the
  // start again where the list ends. Empty: every worker may run on all cores that the caller may use.
  std::vector<int> cores{};
  bool hogwild = false;  // without locks; only for asgd, see hogwild.h
  // Seconds without progress after which the observer gets a note that says who is missing, and after which the run
  // fails.
  double note_after = 5;
  double fail_after = 600;
};

// Each worker's thread computes its message, then visits the shards one after the other. At each shard it applies its
// message and copies its new parameters, and holds only that shard's lock. If the rule's gate makes workers wait, there
// is also one lock around the whole visit, which keeps the order of calls that rule.h promises; the thread whose
// message opens the gate then writes the parameters of all workers that are released. The first shard decides what must
// be the same for all: the order of batches, the learning rate, the last message. So all shards take the same messages,
// though not in the same order.
//
// The run ends as in the simulator (simulator.h). A worker that throws is lost: it leaves, the others go on, and if a
// barrier was waiting for it, the barrier opens. The observer is called on the calling thread, some milliseconds late.
//
// A snapshot is taken after job.snapshot_every gradients or a few more: each worker rests before its next computation
// until the slowest one has handed in its message and everything is copied. A run that goes on from a snapshot and the
// run before it are one run: their events can be replayed together.
//
// Evaluations run on a thread of their own, on copies of theta. If the copies already fill kMostCopiedBytes
// (dist/threads/run_state.h), an evaluation is put off: memory stays bounded, and no worker waits.
//
// Throws Error for a job or options that cannot run; when no worker is left; for what the rule, the gate or the
// observer throw; and after `fail_after` seconds without progress. If a worker then does not return from its gradient
// within the same time again, the process ends with a message on standard error: a thread cannot be ended from outside.
History run_threads(const Job& job, const ThreadsOptions& options, Observer& observer);

}  // namespace tg
