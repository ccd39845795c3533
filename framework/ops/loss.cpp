#include "framework/ops/loss.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

void require_scores(const Op& op, const Tensor& x) {
  detail::require_floating(op, x);
  require(x.rank() == 2 && x.dim(0) > 0 && x.dim(1) > 0, "{}: takes [n, classes] with at least one of each, got {}",
          op.name(), x.shape().str());
}

}  // namespace

// y[i,c] = x[i,c] - log(sum over d of e^x[i,d])
static const Op kLogSoftmax{"log_softmax", "dx = g - e^y * (sum of g over the row)"};
Tensor log_softmax(const Tensor& x) {
  require_scores(kLogSoftmax, x);
  Tensor y = detail::empty_like(x);
  backend_for(x).log_softmax(x.as_contiguous(), y);
  record(y, kLogSoftmax, {x}, [saved = Saved(y)](Tensor g, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor dx = detail::empty_like(g);
    backend_for(g).log_softmax_backward(g, saved.get(kLogSoftmax.name()), dx);
    sink.add(0, dx);
  });
  return y;
}

// loss = -(1/n) sum over i of log_softmax(logits)[i, labels[i]]
static const Op kCrossEntropy{"cross_entropy", "dlogits = g / n * (softmax - one-hot of labels)"};
Tensor cross_entropy(const Tensor& logits, const Tensor& labels) {
  require_scores(kCrossEntropy, logits);
  const int64_t n = logits.dim(0), classes = logits.dim(1);
  require(labels.dtype() == DType::i32 && labels.shape() == Shape{n},
          "cross_entropy: logits are {}, so labels must be int32 [{}], got {} {}", logits.shape().str(), n,
          name_of(labels.dtype()), labels.shape().str());
  require(labels.device() == logits.device(), "cross_entropy: logits are on {}, labels on {}", name_of(logits.device()),
          name_of(labels.device()));
  const Tensor targets = labels.as_contiguous();
  const int32_t* label = targets.data<int32_t>();
  for (int64_t row = 0; row < n; ++row)
    require(0 <= label[row] && label[row] < classes,
            "cross_entropy: label {} in row {}; logits {} have classes 0 to {}", label[row], row, logits.shape().str(),
            classes - 1);

  Tensor loss = detail::empty_like(logits, {}), log_probabilities = detail::empty_like(logits);
  backend_for(logits).cross_entropy(logits.as_contiguous(), targets, loss, log_probabilities);
  record(loss, kCrossEntropy, {logits},
         [saved = Saved(log_probabilities), saved_labels = Saved(targets)](Tensor g, GradientSink& sink) {
           if (!sink.wants(0)) return;
           const char* op = kCrossEntropy.name();
           Tensor dlogits = detail::empty_like(g, saved.get(op).shape());
           backend_for(g).cross_entropy_backward(g, saved.get(op), saved_labels.get(op), dlogits);
           sink.add(0, dlogits);
         });
  return loss;
}

}  // namespace tg
