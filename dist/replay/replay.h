#pragma once
// Replay: computes a recorded run again from its events. Even a run on threads, whose order no seed repeats, can so be
// repeated exactly, and be asked what happened in it.

#include "dist/engine.h"
#include "dist/history/event_log.h"

namespace tg {

struct ReplayOptions {
  // True: every loss, and every hash of theta, must be the recorded one. To be false if job.rule is not the run's rule.
  bool compare = true;
  bool evaluate = true;  // false: leaves out the evaluations on the test set
  int pool_threads = 0;  // as in SimulatorOptions
};

struct Replayed {
  // What the replay measured; it measures every gap. The status is finished or stopped as that of the run; also stopped
  // if the logs have no end or the replay differs from the run; diverged if another rule's loss or theta is not finite.
  History history;
  std::string difference;  // the first update that differs from the recorded one, and how, in words; empty: none does
  bool whole = false;      // the logs contain the run's end, and the replay reached it without a difference
};

// Does at each shard what the shard's log says, in the order of the log: takes messages in, and sends parameters,
// batches and learning rates. An event waits only for the gradient that it needs, and a gradient for what all shards
// sent to its worker; gradients are computed ahead of time, as in the simulator.
//
// With the rule that ran (and the same build, processor and threads per worker), the final parameters are those of the
// run, bit for bit. With another rule they are what that rule would have made of the same arrivals, batches, initial
// parameters and learning rates; its messages must have as many batches.
//
// `logs` has one log for each shard. The logs of a run that was killed have no end; they are replayed as far as all of
// them reach. Throws Error, naming shard and event, if the events contradict each other; and with the message of what
// the task throws.
Replayed replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer);

}  // namespace tg
