#pragma once
// Progress: shows how far a run has come. On a terminal, a bar with an estimate of the time left; in a log file, a line
// for each evaluation.

#include <chrono>
#include <string>

#include "dist/history/history.h"

namespace tg {

class Progress {
 public:
  // Each line starts with `label`. The run has `gradients` gradients; `done` of them were taken in before it went on
  // from a snapshot.
  Progress(std::string label, int64_t gradients, int64_t batches_per_epoch, int64_t done = 0);
  // Ends the bar's line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void on_update(const UpdateRecord& update);
  void on_evaluation(const EvaluationRecord& evaluation);
  // Prints the note on a line of its own.
  void on_note(const std::string& note);

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const;
  std::string time_left() const;
  void draw_bar();

  std::string label_;
  int64_t gradients_, batches_per_epoch_;
  bool terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_{};
  int64_t done_before_, done_;
  std::string last_result_;  // of the last evaluation, in words
};

// "[######........]": `width` characters between the brackets, of which `share` (0 to 1) are filled.
std::string progress_bar(double share, int width);

}  // namespace tg
