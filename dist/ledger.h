#pragma once
// Ledger: receives updates and copies of theta from an engine, in any order, and passes them on to the History and to
// the observer in the order of the updates. An evaluation comes after the update that it follows.

#include <map>
#include <queue>
#include <string>

#include "dist/evaluations.h"

namespace tg {

class Ledger {
 public:
  // Evaluations run on `pool`. All arguments must outlive the ledger.
  Ledger(const Job& job, AheadPool& pool, Observer& observer, History& history);

  // Update number record.update has happened.
  void update(const UpdateRecord& record) { updates_.push(record); }
  // `theta` is a copy, made at `time` (virtual time units or seconds, as UpdateRecord::time) after so many
  // messages, and is to be evaluated.
  void evaluation(int64_t messages, double time, Tensor theta);
  // Reports the next update and begins the evaluations due after it. Returns false, and does nothing, if that update
  // has not come in yet. To be called until it returns false.
  bool report_next();
  // Reports the evaluations that are done. If `all`, waits until every evaluation is done first.
  void report_evaluations(bool all);

  // Saves everything that was reported, and the evaluations under way. Throws Error if there are updates that
  // report_next() has not reported yet.
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);

  int64_t reported() const { return next_; }  // updates
  // If a theta that was to be evaluated had parameters that are not finite: a sentence that says after which update.
  // Otherwise empty.
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
  std::map<int64_t, Copy> copies_;  // whose evaluation has not begun, by messages
  int64_t next_ = 0;
  double loss_sum_ = 0;         // of the updates since the last evaluation
  int64_t last_evaluated_ = 0;  // messages before it
  std::string trouble_;
};

// A finished run becomes a diverged one if one of its evaluations has a test loss that is not finite.
void check_test_losses(History& history);

}  // namespace tg
