#pragma once
// Replay: a recorded run once more, from its events. Any engine's run becomes exact and can be asked questions.

#include "dist/engine.h"
#include "dist/history/event_log.h"

namespace tg {

struct ReplayOptions {
  // True: losses and hashes of theta must be those that were recorded. False where job.rule is another than the run's.
  bool compare = true;
  bool evaluate = true;  // false: nothing is computed on the test set
  int pool_threads = 0;  // as SimulatorOptions
};

struct Replayed {
  // Of the replay: every gap is measured. Finished or stopped as the run; stopped also if its logs are cut, or where it
  // began to differ; diverged if another rule did so.
  History history;
  std::string difference;  // names the first update that differs from the run's, and how; empty if none does
  bool whole = false;      // the logs have the run's end, and the replay came to it
};

// Takes the messages in, and sends parameters, batches and rates, in the order of `logs`, one log per shard. What
// happens at a shard waits for nothing but the gradient that it needs, which needs what all shards sent for it;
// gradients are computed ahead, as in the simulator. For the rule that wrote them (same build, processor and threads
// per worker), the final parameters are the run's, bit for bit. For another rule it is what that rule had made of the
// same arrivals, batches, initial parameters and rates.
//
// A run that was killed has logs without an end: they are replayed as far as they go together. Throws Error, naming
// shard and event, for an order that cannot be, and for what the task throws.
Replayed replay(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options, Observer& observer);

}  // namespace tg
