#pragma once
// History: what a run measured, as numbers. Staleness is measured, not guessed.

#include <cstdint>
#include <string>
#include <vector>

#include "dist/history/event.h"

namespace tg {

// One message that was taken in.
struct UpdateRecord {
  int64_t update = 0;  // counted from 0
  WorkerId worker = 0;
  int64_t batch = 0;
  int64_t lag = 0;  // updates of theta between the reply that the worker worked from and this message
  // Root mean square of (theta now - what the worker was sent), over the parameters (Hakimi et al. 2019); NaN where it
  // was not measured.
  double gap = 0;
  double loss = 0;  // of the batch, at the parameters that the worker worked from
  float learning_rate = 0;
  double time = 0;         // virtual time units in the simulator, seconds elsewhere
  int64_t bytes_up = 0;    // of this message
  int64_t bytes_down = 0;  // of the reply that it answers
};

struct EvaluationRecord {
  int64_t gradients = 0;  // accepted when theta was copied
  double epoch = 0;
  double time = 0;
  double train_loss = 0;  // mean of the batch losses taken in since the evaluation before
  double test_loss = 0;
  double test_error_percent = 0;
};

// A worker that an error ended while the others went on.
struct LostWorker {
  WorkerId worker = 0;
  int64_t update = 0;  // messages taken in when it left
  std::string reason;
};

struct History {
  enum class Status { finished, stopped, diverged };  // stopped: by the user
  Status status = Status::finished;
  std::string message;  // for diverged: worker and update, in words
  std::vector<UpdateRecord> updates;
  std::vector<EvaluationRecord> evaluations;
  std::vector<LostWorker> lost;
  std::vector<float> theta;     // final parameters, laid out as the task says
  double virtual_time = 0;      // the clock at the last update; 0 where there is no virtual clock
  double seconds = 0;           // wall time
  double gradient_seconds = 0;  // summed over threads: inside Worker::work
  double update_seconds = 0;    // inside Update::apply and Update::reply
};

const char* name_of(History::Status status);

// Means and sums over a history's updates.
struct Summary {
  double mean_lag = 0;
  int64_t max_lag = 0;
  double mean_gap = 0;  // of the updates where it was measured
  int64_t bytes_up = 0;
  int64_t bytes_down = 0;
};
Summary summarise(const History& history);

}  // namespace tg
