#pragma once
// Event: one thing that happened at a shard, in order. A run is its configuration, its seed and its events: replaying
// them gives the same final parameters, bit for bit.

#include <cstdint>

#include "optim/rule.h"

namespace tg {

struct Event {
  enum class Kind : uint8_t {
    join = 1,  // worker joined
    leave,     // worker left; its slot's state is dropped
    assign,    // worker was sent parameters and a batch: batch, learning_rate, version
    arrive,    // worker's message arrived: batch, taken, learning_rate (as told), version (after it), loss
    evaluate,  // theta was copied for evaluation number `batch` of the run: version, theta_hash
    finish,    // all gradients were taken in: theta_hash
    release,   // worker could go on and its parameters were written, but no batch was left to send: learning_rate
    stop,      // the run ended before all gradients were taken in: theta_hash
  };
  Kind kind = Kind::join;
  bool taken = true;    // arrive
  WorkerId worker = 0;  // -1 where no worker is meant
  int64_t batch = 0;    // number of the batch over the whole run; -1 where none is meant
  int64_t version = 0;  // messages taken in so far
  float learning_rate = 0;
  double time = 0;          // virtual time units in the simulator, seconds elsewhere
  double loss = 0;          // arrive: of the batch, at what the worker worked from
  uint64_t theta_hash = 0;  // evaluate, finish, stop: hash_of() the shard's theta (measure.h)

  bool operator==(const Event&) const = default;
};

const char* name_of(Event::Kind kind);

}  // namespace tg
