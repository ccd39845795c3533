#pragma once
// The simulator: asynchronous training on a virtual clock, exact and replayable. A run is a pure function of job, clock and seed.

#include "dist/engine.h"
#include "dist/simulate/clock.h"

namespace tg {

// A link between a worker and the server, applied to the bytes that are really encoded.
struct LinkModel {
  double latency = 0;         // time units a message
  double time_per_byte = 0;   // time units; 0: infinite bandwidth
  double duration(int64_t bytes) const { return latency + time_per_byte * static_cast<double>(bytes); }
};

struct SimulatorOptions {
  ClockOptions clock;
  LinkModel link;
  int pool_threads = 0;  // threads that compute gradients ahead; 0: one per core that this process may use. Changes no result
};

// Gradients in flight depend only on what their worker was sent, so they are computed ahead on a pool, the earliest to finish first,
// and taken in in virtual order. Throws Error for a job that cannot run; a non-finite loss ends the run with status diverged.
History simulate(const Job& job, const SimulatorOptions& options, Observer& observer);

}  // namespace tg
