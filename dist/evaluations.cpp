#include "dist/evaluations.h"

#include <utility>

#include "dist/snapshot/fields.h"

namespace tg {

Evaluations::Evaluations(const Job& job, AheadPool& pool, Observer& observer, std::vector<EvaluationRecord>& records)
    : job_(job), pool_(pool), observer_(observer), records_(records) {}

void Evaluations::start(const EvaluationRecord& record, Tensor theta) {
  pending_.push_back({record, std::move(theta)});
  Pending& pending = pending_.back();
  // Before the gradients: otherwise copies would pile up for as long as gradients keep the pool busy.
  pending.work =
      pool_.submit_urgent([this, &pending] { pending.result = job_.task->evaluate(pending.theta.view(), job_.seed); });
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
  first.record.test_loss = first.result.loss;
  first.record.test_error_percent = first.result.error_percent;
  records_.push_back(first.record);
  observer_.on_evaluation(first.record);
  pending_.pop_front();
}

void Evaluations::save(SnapshotWriter to) const {
  std::vector<EvaluationRecord> records;
  for (const Pending& pending : pending_) {
    to.write(fmt::format("theta/{}", records.size()), pending.theta.view());
    records.push_back(pending.record);
  }
  write_records(to, "records", records, kEvaluationFields);
}

void Evaluations::load(const SnapshotReader& from) {
  int i = 0;
  for (const EvaluationRecord& record : read_records(from, "records", kEvaluationFields)) {
    Tensor theta = Tensor::empty({job_.task->layout().size()});
    from.read(fmt::format("theta/{}", i++), theta.span());
    start(record, std::move(theta));
  }
}

}  // namespace tg
