#include "dist/evaluations.h"

#include <utility>

namespace tg {

Evaluations::Evaluations(const Job& job, AheadPool& pool, Observer& observer, std::vector<EvaluationRecord>& records)
    : job_(job), pool_(pool), observer_(observer), records_(records) {}

void Evaluations::start(const EvaluationRecord& record, Tensor theta) {
  pending_.push_back({record, std::move(theta), nullptr});
  Pending& pending = pending_.back();
  // Before the gradients: otherwise copies would pile up for as long as gradients keep the pool busy.
  pending.work = pool_.submit_urgent([this, &pending] {
    const Evaluation result = job_.task->evaluate(pending.theta.view(), job_.seed);
    pending.record.test_loss = result.loss;
    pending.record.test_error_percent = result.error_percent;
  });
}

void Evaluations::report_done() {
  while (!pending_.empty() && pool_.done(pending_.front().work)) report_first();
}

void Evaluations::report_all() {
  while (!pending_.empty()) report_first();
}

void Evaluations::report_first() {
  Pending& first = pending_.front();
  try {
    pool_.wait(first.work);
  } catch (const std::exception& error) {
    fail("evaluation after {} gradients: {}", first.record.gradients, error.what());
  }
  records_.push_back(first.record);
  observer_.on_evaluation(first.record);
  pending_.pop_front();
}

}  // namespace tg
