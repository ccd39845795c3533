#pragma once
// History: what was measured during a run, among it how stale each gradient was.

#include <cstdint>
#include <string>
#include <vector>

#include "dist/history/event.h"

namespace tg {

// One update: a message that the server took in.
struct UpdateRecord {
  int64_t update = 0;  // number of the update, from 0
  WorkerId worker = 0;
  int64_t batch = 0;      // the message's first
  int64_t gradients = 1;  // minibatch gradients that the message counts as
  int64_t lag = 0;  // how often theta changed between sending the worker its parameters and the arrival of its message
  // Root mean square, over the parameters or some of them, of (theta at the arrival - the parameters that the worker
  // was sent): see gap_meter.h. NaN if it was not measured.
  double gap = 0;
  double loss = 0;          // mean over the batches, each where the worker first asked for its gradient
  float learning_rate = 0;  // that the worker was told with these parameters
  double time = 0;          // of the arrival: virtual time units in the simulator, seconds after the start on threads
  int64_t bytes_up = 0;     // encoded bytes of this message
  int64_t bytes_down = 0;   // encoded bytes of the parameters that the worker was sent
};

struct EvaluationRecord {
  int64_t gradients = 0;          // accepted when theta was copied
  double epoch = 0;               // gradients / batches per epoch
  double time = 0;                // of the copy; units as in UpdateRecord
  double train_loss = 0;          // mean of UpdateRecord::loss over the updates since the evaluation before
  double test_loss = 0;           // mean over the test set
  double test_error_percent = 0;  // share of the test set that is classified wrongly
};

// A worker that ended with an error while the others went on.
struct LostWorker {
  WorkerId worker = 0;
  int64_t update = 0;  // messages taken in when it left
  std::string reason;
};

struct History {
  // Stopped: the user ended the run before its last gradient. Diverged: a loss or a parameter was not finite.
  enum class Status { finished, stopped, diverged };
  Status status = Status::finished;
  std::string message;  // of a run that diverged: at which update, and what was not finite
  std::vector<UpdateRecord> updates;
  std::vector<EvaluationRecord> evaluations;
  std::vector<LostWorker> lost;
  std::vector<float> theta;     // final parameters, in the order of Task::layout()
  double virtual_time = 0;      // time units on the simulator's clock at the last update; 0 on threads
  double seconds = 0;           // wall time of the run
  double gradient_seconds = 0;  // wall time in Worker::work, summed over the workers
  double update_seconds = 0;    // wall time in Update::apply and Update::reply, summed over the shards
};

const char* name_of(History::Status status);

// Means, maxima and sums over the updates of a history; all zero if there are none.
struct Summary {
  double mean_lag = 0;
  int64_t max_lag = 0;
  double mean_gap = 0;  // over the updates whose gap was measured; NaN if there are updates, but no gap was measured
  int64_t gradients = 0;
  int64_t bytes_up = 0;
  int64_t bytes_down = 0;
};
Summary summarise(const History& history);

}  // namespace tg
