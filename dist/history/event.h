#pragma once
// Event: one thing that happened at a shard. Configuration, seed and the events in their order determine a run: a
// replay of them gives the same final parameters, bit for bit. docs/events.md has the file format.

#include <cstdint>

#include "optim/rule.h"

namespace tg {

struct Event {
  enum class Kind : uint8_t {
    // Behind the colon: the fields that have a meaning, besides version and time, which every event has.
    join = 1,  // a worker joined: worker
    leave,     // a worker left, and what the shard knew of it was dropped: worker
    assign,    // a worker was sent parameters and a batch: worker, batch, learning_rate
    arrive,    // a worker's message arrived: worker, batch, taken, learning_rate, loss
    evaluate,  // theta was copied for an evaluation: batch (here the evaluation's number), theta_hash
    finish,    // the run ended after its last gradient: theta_hash
    release,   // a worker's next parameters were computed, but there was no batch left to send: worker, learning_rate
    stop,      // the run ended before its last gradient: theta_hash
  };
  Kind kind = Kind::join;
  bool taken = true;        // false: the gate refused the message
  WorkerId worker = 0;      // -1 where it has no meaning
  int64_t batch = 0;        // number of the batch, counted from 0 over the whole run; -1 where it has no meaning
  int64_t version = 0;      // messages that this shard has taken in so far, an arriving one included
  float learning_rate = 0;  // that the worker is told (assign, release) or was told with its parameters (arrive)
  double time = 0;          // virtual time units in the simulator, seconds on threads
  double loss = 0;          // of the batch, at the parameters from which the worker computed
  uint64_t theta_hash = 0;  // hash_of() the shard's part of theta (measure.h)

  bool operator==(const Event&) const = default;
};

// "join", "leave", ...
const char* name_of(Event::Kind kind);

}  // namespace tg
