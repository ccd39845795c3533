#pragma once
// ClassificationTask: a model that learns to classify pictures, in the form in which engines see it.

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "datasets/batches.h"
#include "dist/task.h"
#include "framework/nn/model.h"

namespace tg {

class ClassificationTask final : public Task {
 public:
  // The data must outlive the task. `make` makes a model without parameters bound to it; it is called once for each
  // thread that computes at the same time as others. Throws Error unless 1 <= batch_size <= size of the training set.
  ClassificationTask(const Splits& data, std::function<Model()> make, int64_t batch_size);
  ClassificationTask(Splits&&, std::function<Model()>, int64_t) = delete;
  ~ClassificationTask() override;

  const Layout& layout() const override { return layout_; }
  void initial(uint64_t seed, Span out) const override;
  int64_t batches_per_epoch() const override;
  int64_t batch_size() const override { return batch_size_; }
  // The loss is the mean cross-entropy, in nats. The model uses the parameters `at` in place, without copying them.
  double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override;
  std::string where_not_finite(View at, uint64_t seed, int64_t batch, const Stream& stream) const override;
  Evaluation evaluate(View theta, uint64_t seed) const override;

 private:
  class Replica;
  std::shared_ptr<const Batches> batches_of(uint64_t seed) const;

  const Splits& data_;
  std::function<Model()> make_;
  int64_t batch_size_;
  Layout layout_;
  mutable std::mutex mutex_;                          // protects the members below
  mutable std::vector<std::unique_ptr<Model>> idle_;  // models that no thread is using
  mutable std::shared_ptr<const Batches> batches_;    // for the seed batches_seed_
  mutable uint64_t batches_seed_ = 0;
};

}  // namespace tg
