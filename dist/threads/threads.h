#pragma once
// The threads engine: a parameter server in one process, a thread per worker. Real asynchrony on one machine.

#include "dist/engine.h"

namespace tg {

// Messages of which the gap is measured: one of so many of each worker's, since it costs a pass over the parameters
// while the others wait. A replay of the run's events has the gaps of all.
inline constexpr int64_t kGapShare = 16;

struct ThreadsOptions {
  int shards = 1;  // parts of the parameters that can be updated at the same time
  // Worker i stays on job.threads_per_worker of these, in turn; empty: on any core that the caller may use.
  std::vector<int> cores{};
  // Without locks: for asgd alone, see hogwild.h.
  bool hogwild = false;
  // After so many seconds of waiting the observer is told who is missing, and after so many the run fails.
  double note_after = 5;
  double fail_after = 600;
};

// Each worker's thread computes its message, then visits the shards in their order, applies its own message at each and
// takes its own parameters from there, under that shard's lock alone. Where the gate makes workers wait, a lock around
// the whole visit keeps the order that rule.h promises, and whoever's message opens the gate writes the parameters of
// all who are released. What the first shard decides (the order of batches, the learning rate, the last message) holds
// for all: all shards take the same messages, though not in the same order.
//
// The run ends as in the simulator (simulator.h). A worker that throws is lost: it leaves, the others go on, and a
// barrier that waited for it opens. The observer is called on the calling thread, some milliseconds behind.
//
// For a snapshot, due after so many gradients or a few more, each worker rests before its next computation, until the
// last one has come to that point and all is copied. What goes on from it is one run with what came before.
//
// Evaluations run beside, on copies. One that is due while copies fill kMostCopiedBytes (dist/threads/run_state.h) is
// put off, so that memory stays bounded and no worker waits.
//
// Throws Error for a job or options that cannot run; when no worker is left; for what rule, gate or observer throw; and
// after `fail_after` of waiting. A worker that then does not come back from its gradient within as much again ends the
// process, with a message: a thread cannot be ended from outside.
History run_threads(const Job& job, const ThreadsOptions& options, Observer& observer);

}  // namespace tg
