#pragma once
// The simulator: asynchronous training on a virtual clock. A run is a pure function of job, options and seed: whoever
// repeats it gets the same bits, on one core or on many.

#include "dist/engine.h"
#include "dist/simulate/clock.h"

namespace tg {

// The network link between a worker and the server. Bytes are those that the codec really makes.
struct LinkModel {
  double latency = 0;        // time units for each message or reply, in addition to its bytes
  double time_per_byte = 0;  // time units for each encoded byte: 1 / bandwidth
  // Time units from one end to the other.
  double duration(int64_t bytes) const { return latency + time_per_byte * static_cast<double>(bytes); }
};

struct SimulatorOptions {
  ClockOptions clock{};
  LinkModel link{};
  // Threads that compute gradients ahead of the virtual clock; 0: as cores allow (pool_threads() in engine.h). Changes
  // no result.
  int pool_threads = 0;
};

// A worker is sent parameters and the next batch (or as many as its rule's messages have), computes for as long as the
// clock says for each, and sends its message; the
// link adds its time in both directions. A gradient depends only on what its worker was sent, so the gradients of all
// workers can be computed ahead of the clock, on a pool of threads; the server takes them in in the order of the clock.
// If the gate refuses a message, its batch is not used again.
//
// A snapshot is taken with the message that completes every job.snapshot_every gradients. Gradients that are being
// computed are finished first, since a computation cannot be saved. A run that goes on from a snapshot has, bit for
// bit, the results of one that was never interrupted.
//
// The run ends
// - finished, after job.messages();
// - diverged, if the loss of a batch or of an evaluation, or a parameter of an evaluated theta, is not finite;
// - stopped, if the observer asks for it; there is no evaluation at the end then.
// The observer is called on the calling thread. Throws Error for a job or options that cannot run, and with the message
// of what the task throws, naming the update, the worker and the batch.
History simulate(const Job& job, const SimulatorOptions& options, Observer& observer);

}  // namespace tg
