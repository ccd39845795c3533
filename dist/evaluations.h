#pragma once
// Evaluations: computes test loss and error while the run goes on. Each evaluation works on its own copy of the
// parameters, and results are reported in the order in which the evaluations were started.

#include <deque>

#include "dist/ahead_pool.h"
#include "dist/engine.h"
#include "framework/core/tensor.h"

namespace tg {

class Evaluations {
 public:
  // Each result goes to `observer` and to the end of `records`, on the thread that calls report_done() or report_all().
  Evaluations(const Job& job, AheadPool& pool, Observer& observer, std::vector<EvaluationRecord>& records);

  // Begins an evaluation of `theta`, which nobody else may write to. `record` is complete except for the test results.
  void start(const EvaluationRecord& record, Tensor theta);
  // Reports the evaluations that are done, up to the first one that is not. Throws Error, naming the evaluation, with
  // the message of what the task threw.
  void report_done();
  // Waits until all are done and reports them. Throws Error likewise.
  void report_all();

  // Saves the evaluations that are not reported yet, with their copies of theta; load() begins them again.
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);

 private:
  struct Pending {
    EvaluationRecord record;
    Tensor theta;
    Evaluation result{};  // the pool writes it
    AheadPool::Handle work{};
  };
  void report_first();

  const Job& job_;
  AheadPool& pool_;
  Observer& observer_;
  std::vector<EvaluationRecord>& records_;
  std::deque<Pending> pending_;  // a deque, so that the pool may keep a reference to an element
};

}  // namespace tg
