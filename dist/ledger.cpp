#include "dist/ledger.h"

#include <cmath>
#include <utility>

#include "dist/history/measure.h"
#include "dist/snapshot/fields.h"

namespace tg {
namespace {

// The largest lag or number of bytes that load() accepts for one update: sums over a run cannot overflow then.
constexpr int64_t kMostPerUpdate = int64_t{1} << 40;

}  // namespace

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

void Ledger::evaluation(int64_t messages, double time, Tensor theta) {
  copies_.emplace(messages, Copy{time, std::move(theta)});
  begin_evaluations();
}

void Ledger::begin_evaluations() {
  while (!copies_.empty() && copies_.begin()->first <= next_) {
    const auto [messages, copy] = std::move(*copies_.begin());
    copies_.erase(copies_.begin());
    if (!all_finite(copy.theta.view())) {
      if (trouble_.empty()) trouble_ = fmt::format("at update {}: parameters are not finite any more", messages - 1);
      continue;
    }
    const int64_t gradients = job_.gradients_of(messages);
    evaluations_.start({.gradients = gradients,
                        .epoch = static_cast<double>(gradients) / static_cast<double>(job_.task->batches_per_epoch()),
                        .time = copy.time,
                        .train_loss = loss_sum_ / static_cast<double>(messages - last_evaluated_)},
                       copy.theta);
    loss_sum_ = 0;
    last_evaluated_ = messages;
  }
}

void Ledger::report_evaluations(bool all) {
  if (all)
    evaluations_.report_all();
  else
    evaluations_.report_done();
}

void Ledger::save(SnapshotWriter to) const {
  require(updates_.empty() && copies_.empty(), "ledger: {} updates are not reported yet", updates_.size());
  write_records(to, "updates", history_.updates, kUpdateFields);
  write_records(to, "evaluations", history_.evaluations, kEvaluationFields);
  to.write("lost", std::ssize(history_.lost));
  for (size_t i = 0; i < history_.lost.size(); ++i) {
    const LostWorker& lost = history_.lost[i];
    SnapshotWriter part = to.part(fmt::format("lost/{}", i));
    part.write("worker", int64_t{lost.worker});
    part.write("update", lost.update);
    part.write_text("reason", lost.reason);
  }
  to.write_real("loss_sum", loss_sum_);
  to.write("last_evaluated", last_evaluated_);
  evaluations_.save(to.part("evaluating"));
}

void Ledger::load(const SnapshotReader& from) {
  history_.updates = read_records(from, "updates", kUpdateFields);
  for (const UpdateRecord& record : history_.updates) {
    from.require_here(record.update == next_ && record.worker >= 0 && record.worker < job_.workers,
                      "the record of update {} has number {} and worker {}; there are {} workers", next_, record.update,
                      record.worker, job_.workers);
    for (const int64_t amount : {record.gradients, record.lag, record.bytes_up, record.bytes_down})
      from.require_here(amount >= 0 && amount <= kMostPerUpdate, "update {} has gradients, a lag or bytes of {}", next_,
                        amount);
    ++next_;
  }
  history_.evaluations = read_records(from, "evaluations", kEvaluationFields);
  const int64_t lost = from.read("lost", 0, job_.workers);
  for (int64_t i = 0; i < lost; ++i) {
    const SnapshotReader part = from.part(fmt::format("lost/{}", i));
    history_.lost.push_back({static_cast<WorkerId>(part.read("worker", 0, job_.workers - 1)),
                             part.read("update", 0, next_), part.read_text("reason")});
  }
  loss_sum_ = from.read_real("loss_sum");
  last_evaluated_ = from.read("last_evaluated", 0, next_);
  evaluations_.load(from.part("evaluating"));
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
