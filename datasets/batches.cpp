#include "datasets/batches.h"

#include <algorithm>
#include <numeric>

#include "framework/core/random.h"

namespace tg {
namespace {

// Workers that drift apart straddle two or three epochs; more are kept for none.
constexpr size_t kEpochsKept = 4;

int64_t batches_of(const Dataset& dataset, int64_t batch_size) {
  require(batch_size >= 1, "{}: a batch needs at least 1 sample, got {}", dataset.name, batch_size);
  require(dataset.size() > 0, "{}: there is no sample to make batches of", dataset.name);
  return dataset.size() / batch_size + (dataset.size() % batch_size != 0 ? 1 : 0);
}

// Fisher and Yates.
std::vector<int64_t> permutation(int64_t n, const Stream& stream) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  Generator random(stream);
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace

Batches::Batches(const Dataset& dataset, int64_t batch_size, uint64_t seed)
    : dataset_(dataset), batch_size_(batch_size), per_epoch_(batches_of(dataset, batch_size)), seed_(seed) {}

std::vector<int64_t> Batches::index(int64_t b) const {
  require(b >= 0, "{}: batch number {}; they start at 0", dataset_.name, b);
  const auto order = order_of(b / per_epoch_);
  const int64_t first = b % per_epoch_ * batch_size_;
  const int64_t last = first + std::min(batch_size_, dataset_.size() - first);
  return {order->begin() + first, order->begin() + last};
}

Batch Batches::get(int64_t b) const { return gather(dataset_, index(b)); }

std::shared_ptr<const Batches::Permutation> Batches::order_of(int64_t epoch) const {
  const std::lock_guard lock(mutex_);  // held while shuffling: the others want this epoch too
  auto known = std::find_if(recent_.begin(), recent_.end(), [&](const Epoch& e) { return e.number == epoch; });
  if (known == recent_.end()) {
    if (recent_.size() == kEpochsKept) recent_.pop_back();
    const Stream stream = Stream(seed_).split("shuffle", static_cast<uint64_t>(epoch));
    known = recent_.insert(recent_.end(),
                           Epoch{epoch, std::make_shared<const Permutation>(permutation(dataset_.size(), stream))});
  }
  std::rotate(recent_.begin(), known, known + 1);
  return recent_.front().order;
}

InOrder::InOrder(const Dataset& dataset, int64_t batch_size)
    : dataset_(dataset), batch_size_(batch_size), count_(batches_of(dataset, batch_size)) {}

Batch InOrder::get(int64_t b) const {
  require(b >= 0 && b < count_, "{}: batch {} asked of {}", dataset_.name, b, count_);
  const int64_t first = b * batch_size_;
  std::vector<int64_t> index(static_cast<size_t>(std::min(batch_size_, dataset_.size() - first)));
  std::iota(index.begin(), index.end(), first);
  return gather(dataset_, std::move(index));
}

}  // namespace tg
