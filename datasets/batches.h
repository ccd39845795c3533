#pragma once
// In which order a data set is seen: shuffled batches for training, all samples in turn for an evaluation.

#include <memory>
#include <mutex>
#include <vector>

#include "datasets/dataset.h"

namespace tg {

// Batch b = 0, 1, ... of a whole run. Each epoch is a new permutation of the samples, a function of the seed and the
// epoch alone, so any batch can be asked for at any time and by any thread. The last batch of an epoch may be shorter.
class Batches {
 public:
  // The data set must outlive this object. Throws Error unless both have at least one sample.
  Batches(const Dataset& dataset, int64_t batch_size, uint64_t seed);
  Batches(Dataset&&, int64_t, uint64_t) = delete;

  int64_t per_epoch() const { return per_epoch_; }
  Batch get(int64_t b) const;                   // thread-safe; b >= 0
  std::vector<int64_t> index(int64_t b) const;  // the samples of get(b)

 private:
  using Permutation = std::vector<int64_t>;
  struct Epoch {
    int64_t number;
    std::shared_ptr<const Permutation> order;
  };
  std::shared_ptr<const Permutation> order_of(int64_t epoch) const;

  const Dataset& dataset_;
  int64_t batch_size_, per_epoch_;
  uint64_t seed_;
  mutable std::mutex mutex_;
  mutable std::vector<Epoch> recent_;  // the last asked for comes first
};

// All samples in order, batch_size at a time; the last batch may be shorter. Batches may be taken by several threads.
class InOrder {
 public:
  InOrder(const Dataset& dataset, int64_t batch_size);
  InOrder(Dataset&&, int64_t) = delete;

  int64_t count() const { return count_; }  // of batches
  Batch get(int64_t b) const;               // 0 <= b < count()

 private:
  const Dataset& dataset_;
  int64_t batch_size_, count_;
};

}  // namespace tg
