#pragma once
// Evaluations beside a run: each on a copy of the parameters, reported in order.

#include <deque>

#include "dist/ahead_pool.h"
#include "dist/engine.h"
#include "framework/core/tensor.h"

namespace tg {

class Evaluations {
 public:
  // Reports to `observer` and appends to `records`, always on the thread that calls.
  Evaluations(const Job& job, AheadPool& pool, Observer& observer, std::vector<EvaluationRecord>& records);

  // Begins an evaluation of `theta`, which nobody else writes to. `record` has everything but the results.
  void start(const EvaluationRecord& record, Tensor theta);
  // Reports those that are done, up to the first that is not. Throws Error if one failed.
  void report_done();
  // Waits for all and reports them.
  void report_all();

  // Those that are not reported yet, with the parameters to evaluate: load() begins them again.
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
  std::deque<Pending> pending_;  // which stay where they are
};

}  // namespace tg
