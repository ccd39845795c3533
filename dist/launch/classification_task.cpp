#include "dist/launch/classification_task.h"

#include <algorithm>
#include <utility>

#include "framework/nn/first_not_finite.h"
#include "framework/ops/loss.h"
#include "framework/ops/reduce.h"

namespace tg {
namespace {

constexpr int64_t kEvaluationBatch = 500;
// Batch-norm statistics are estimated on so many training batches before an evaluation: the first ones of the run.
constexpr int64_t kEstimationBatches = 16;

// A tensor over the memory of `values`, which is not written to: no forward or backward pass writes to a parameter.
Tensor borrowed(View values) { return Tensor::borrow(const_cast<float*>(values.data), {values.size}, values.device); }

Tensor training_loss(const Model& model, const Batch& samples, const Stream& stream) {
  return cross_entropy(model(samples.x, {.training = true, .stream = stream}), samples.y);
}

int64_t count_errors(const Tensor& logits, const Tensor& labels) {
  const Tensor named = argmax(logits, 1);
  int64_t errors = 0;
  for (int64_t i = 0; i < labels.count(); ++i) errors += named.data<int32_t>()[i] != labels.data<int32_t>()[i];
  return errors;
}

}  // namespace

// While this object lives, the calling thread has a model of its own, bound to `parameters`.
class ClassificationTask::Replica {
 public:
  Replica(const ClassificationTask& task, View parameters) : task_(task) {
    {
      const std::lock_guard lock(task.mutex_);
      if (!task.idle_.empty()) {
        model_ = std::move(task.idle_.back());
        task.idle_.pop_back();
      }
    }
    if (!model_) model_ = std::make_unique<Model>(task.make_());
    model_->bind(borrowed(parameters));
  }
  ~Replica() {
    const std::lock_guard lock(task_.mutex_);
    task_.idle_.push_back(std::move(model_));
  }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  Model& model() const { return *model_; }

 private:
  const ClassificationTask& task_;
  std::unique_ptr<Model> model_;
};

ClassificationTask::ClassificationTask(const Splits& data, std::function<Model()> make, int64_t batch_size)
    : data_(data), make_(std::move(make)), batch_size_(batch_size), layout_(make_().layout()) {
  require(batch_size >= 1 && batch_size <= data.train.size(),
          "a batch of {} samples: expected 1 to {}, the training set's size", batch_size, data.train.size());
}

ClassificationTask::~ClassificationTask() = default;

void ClassificationTask::initial(uint64_t seed, Span out) const { make_().initialise(Stream(seed).split("init"), out); }

int64_t ClassificationTask::batches_per_epoch() const { return (data_.train.size() + batch_size_ - 1) / batch_size_; }

std::shared_ptr<const Batches> ClassificationTask::batches_of(uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  if (!batches_ || batches_seed_ != seed) {
    batches_ = std::make_shared<const Batches>(data_.train, batch_size_, seed);
    batches_seed_ = seed;
  }
  return batches_;
}

double ClassificationTask::gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const {
  const Batch samples = batches_of(seed)->get(batch);
  const Replica replica(*this, at);
  const Tensor loss = training_loss(replica.model(), samples, stream);
  const double value = loss.item();
  gradients(loss, replica.model().parameters(), out);
  return value;
}

std::string ClassificationTask::where_not_finite(View at, uint64_t seed, int64_t batch, const Stream& stream) const {
  const NoGrad no_grad;
  const Batch samples = batches_of(seed)->get(batch);
  const Replica replica(*this, at);
  return first_not_finite(replica.model().parameters(), [&] { training_loss(replica.model(), samples, stream); });
}

Evaluation ClassificationTask::evaluate(View theta, uint64_t seed) const {
  const NoGrad no_grad;
  const Replica replica(*this, theta);
  const auto training = batches_of(seed);
  replica.model().estimate_buffers(std::min(kEstimationBatches, batches_per_epoch()),
                                   [&](int64_t batch) { return training->get(batch).x; });
  const InOrder batches(data_.test, kEvaluationBatch);
  double losses = 0;
  int64_t errors = 0;
  for (int64_t b = 0; b < batches.count(); ++b) {
    const Batch samples = batches.get(b);
    const Tensor logits = replica.model()(samples.x, {.training = false});
    losses += cross_entropy(logits, samples.y).item() * static_cast<double>(samples.y.count());
    errors += count_errors(logits, samples.y);
  }
  const auto n = static_cast<double>(data_.test.size());
  return {losses / n, 100 * static_cast<double>(errors) / n};
}

}  // namespace tg
