#pragma once
// What every engine is given and what it gives back: run(job, observer) -> History.

#include <functional>
#include <memory>
#include <vector>

#include "dist/history/history.h"
#include "dist/task.h"
#include "optim/compress/codec.h"
#include "optim/rule.h"
#include "optim/schedule.h"

namespace tg {

// A run's whole configuration apart from the engine's own part (a clock, addresses, cores).
struct Job {
  const Task* task = nullptr;
  const Rule* rule = nullptr;
  std::function<std::unique_ptr<Codec>(const Layout&)>
      codec_up;  // what a worker's message goes through; one codec a worker
  std::function<std::unique_ptr<Codec>(const Layout&)> codec_down;  // what a reply goes through; one codec a worker
  Schedule schedule{Schedule::Options{}};
  int workers = 1;
  int64_t gradients = 0;       // minibatch gradients to accept; the run ends with the last one
  int64_t evaluate_every = 0;  // gradients between evaluations; 0: only at the end. There is always one at the end
  uint64_t seed = 1;
  int threads_per_worker =
      1;  // OpenMP threads in a gradient: part of the configuration, since oneDNN's bits depend on it
};

// Hears of a run while it lives. Called from one thread at a time, in order.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_event(const Event&) {}          // everything that events.bin records
  virtual void on_update(const UpdateRecord&) {}  // a message was taken in
  virtual void on_evaluation(const EvaluationRecord&) {}
  virtual bool stop() { return false; }  // asked before each update: true ends the run cleanly
};

}  // namespace tg
