#pragma once
// Ledger: brings what an engine measures into a History and to the observer, in the order of the updates, whatever
// order it comes in.

#include <map>
#include <queue>
#include <string>

#include "dist/evaluations.h"

namespace tg {

class Ledger {
 public:
  // Evaluates on `pool`. All must outlive this.
  Ledger(const Job& job, AheadPool& pool, Observer& observer, History& history);

  // Update number record.update was taken in.
  void update(const UpdateRecord& record) { updates_.push(record); }
  // Theta was copied at `time`, when `gradients` messages had been taken in.
  void evaluation(int64_t gradients, double time, Tensor theta);
  // Reports the next update, if it has come, and begins the evaluations that follow on it. To be called until false.
  bool report_next();
  // Reports the evaluations that are done; all of them, waiting, if so asked.
  void report_evaluations(bool all);

  // What was reported, and the evaluations under way. To be saved when nothing else is left to report.
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);

  int64_t reported() const { return next_; }  // updates
  // Not empty: a theta that was to be evaluated had parameters that are not finite, and where.
  const std::string& trouble() const { return trouble_; }

 private:
  void begin_evaluations();

  struct Later {
    bool operator()(const UpdateRecord& a, const UpdateRecord& b) const { return a.update > b.update; }
  };
  struct Copy {
    double time;
    Tensor theta;
  };

  const Job& job_;
  Observer& observer_;
  History& history_;
  Evaluations evaluations_;
  std::priority_queue<UpdateRecord, std::vector<UpdateRecord>, Later> updates_;  // not reported yet
  std::map<int64_t, Copy> copies_;                                               // not begun yet, by `gradients`
  int64_t next_ = 0;
  double loss_sum_ = 0;  // of the updates since the last evaluation
  int64_t last_evaluated_ = 0;
  std::string trouble_;
};

// Sets status diverged, unless it is something else, where an evaluation's loss is not finite.
void check_test_losses(History& history);

}  // namespace tg
