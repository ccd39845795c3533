#include "dist/ledger.h"

#include <cmath>
#include <utility>

#include "dist/history/measure.h"

namespace tg {

Ledger::Ledger(const Job& job, AheadPool& pool, Observer& observer, History& history)
    : job_(job), observer_(observer), history_(history), evaluations_(job, pool, observer, history.evaluations) {}

bool Ledger::report_next() {
  if (updates_.empty() || updates_.top().update != next_) return false;
  const UpdateRecord record = updates_.top();
  updates_.pop();
  ++next_;
  loss_sum_ += record.loss;
  history_.updates.push_back(record);
  observer_.on_update(record);
  begin_evaluations();
  return true;
}

void Ledger::evaluation(int64_t gradients, double time, Tensor theta) {
  copies_.emplace(gradients, Copy{time, std::move(theta)});
  begin_evaluations();
}

void Ledger::begin_evaluations() {
  while (!copies_.empty() && copies_.begin()->first <= next_) {
    const auto [gradients, copy] = std::move(*copies_.begin());
    copies_.erase(copies_.begin());
    if (!all_finite(copy.theta.view())) {
      if (trouble_.empty()) trouble_ = fmt::format("at update {}: parameters are not finite any more", gradients - 1);
      continue;
    }
    evaluations_.start({.gradients = gradients,
                        .epoch = static_cast<double>(gradients) / static_cast<double>(job_.task->batches_per_epoch()),
                        .time = copy.time,
                        .train_loss = loss_sum_ / static_cast<double>(gradients - last_evaluated_)},
                       copy.theta);
    loss_sum_ = 0;
    last_evaluated_ = gradients;
  }
}

void Ledger::report_evaluations(bool all) {
  if (all)
    evaluations_.report_all();
  else
    evaluations_.report_done();
}

void check_test_losses(History& history) {
  for (const EvaluationRecord& record : history.evaluations) {
    if (history.status != History::Status::finished || std::isfinite(record.test_loss)) continue;
    history.status = History::Status::diverged;
    history.message =
        fmt::format("after {} gradients: the test loss is {}", record.gradients, number_of(record.test_loss));
  }
}

}  // namespace tg
