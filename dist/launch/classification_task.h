#pragma once
// ClassificationTask: a model that learns to name pictures, as the engines see it.

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
  // The data must outlive the task. `make` makes a model whose parameters are not bound; it is called for every thread
  // that computes at the same time. Throws Error for a batch size below 1 or above the training set's.
  ClassificationTask(const Splits& data, std::function<Model()> make, int64_t batch_size);
  ClassificationTask(Splits&&, std::function<Model()>, int64_t) = delete;
  ~ClassificationTask() override;

  const Layout& layout() const override { return layout_; }
  void initial(uint64_t seed, Span out) const override;
  int64_t batches_per_epoch() const override;
  int64_t batch_size() const override { return batch_size_; }
  // Of the mean cross-entropy. The model reads its parameters where they lie; only the gradient is written.
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
  mutable std::mutex mutex_;                          // of what follows
  mutable std::vector<std::unique_ptr<Model>> idle_;  // models that nobody computes with
  mutable std::shared_ptr<const Batches> batches_;    // of the seed asked for last
  mutable uint64_t batches_seed_ = 0;
};

}  // namespace tg
