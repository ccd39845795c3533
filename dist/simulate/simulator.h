#pragma once
// The simulator: asynchronous training on a virtual clock, exact and replayable. A run is a pure function of job, clock
// and seed.

#include "dist/engine.h"
#include "dist/simulate/clock.h"

namespace tg {

// A link between a worker and the server, applied to the bytes that are really encoded.
struct LinkModel {
  double latency = 0;        // time units a message
  double time_per_byte = 0;  // time units; 0: infinite bandwidth
  double duration(int64_t bytes) const { return latency + time_per_byte * static_cast<double>(bytes); }
};

struct SimulatorOptions {
  ClockOptions clock{};
  LinkModel link{};
  // Threads that compute gradients ahead; 0: one for each job.threads_per_worker cores that the caller may use. Changes
  // no result.
  int pool_threads = 0;
};

// A worker is sent parameters and the next batch, computes for as long as the clock says, and sends its message; the
// link adds its time in both directions. Gradients in flight depend only on what their worker was sent, so they are
// computed ahead on a pool, the earliest to finish first, and taken in in virtual order. The batch of a message that
// the gate refuses is lost.
//
// A snapshot is taken where as many gradients were taken in as it says, to the one. What goes on from it is, bit for
// bit, what had gone on without it; gradients under way are waited for first.
//
// The run ends with the last of job.gradients messages; with status diverged where a loss of a batch or an evaluation,
// or a parameter (looked at when theta is evaluated) is not finite; with status stopped, and without an evaluation at
// the end, where the observer asks for it. The observer is called on the calling thread. Throws Error for a job that
// cannot run, and for what the task throws, naming worker and update.
History simulate(const Job& job, const SimulatorOptions& options, Observer& observer);

}  // namespace tg
