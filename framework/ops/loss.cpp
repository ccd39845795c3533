#include "framework/ops/loss.h"

#include "framework/backend/backend.h"
#include "framework/ops/elementwise.h"
#include "framework/ops/internal.h"
#include "framework/ops/reduce.h"

namespace tg {
namespace {

void require_scores(const Op& op, const Tensor& x) {
  detail::require_floating(op, x);
  require(x.rank() == 2 && x.dim(0) > 0 && x.dim(1) > 0, "{}: takes [n, classes] with at least one of each, got {}",
          op.name(), x.shape().str());
}

}  // namespace

static const Op kLogSoftmax{"log_softmax", "y[i,c] = x[i,c] - log(sum over d of e^x[i,d])",
                            "dx = g - e^y * (sum of g over the row)"};
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

static const Op kCrossEntropy{
    "cross_entropy",
    "loss = -(1/rows) sum over i of [ (1 - s) p[i, labels[i]] + s / classes sum over c of p[i, c] ], p = "
    "log_softmax(logits)",
    "dlogits = g / rows * (softmax - (1 - s) one-hot of labels - s / classes), 0 in ignored rows"};
Tensor cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  require_scores(kCrossEntropy, logits);
  const int64_t n = logits.dim(0), classes = logits.dim(1);
  require(labels.dtype() == DType::i32 && labels.shape() == Shape{n},
          "cross_entropy: logits are {}, so labels must be int32 [{}], got {} {}", logits.shape().str(), n,
          name_of(labels.dtype()), labels.shape().str());
  require(labels.device() == logits.device(), "cross_entropy: logits are on {}, labels on {}", name_of(logits.device()),
          name_of(labels.device()));
  require(options.label_smoothing >= 0 && options.label_smoothing < 1,
          "cross_entropy: label smoothing {}; it is 0 or more and less than 1", options.label_smoothing);
  const Tensor targets = labels.as_contiguous();
  const int32_t* label = targets.data<int32_t>();
  CrossEntropyGeometry geometry{options.label_smoothing, options.ignore, 0};
  for (int64_t row = 0; row < n; ++row) {
    if (label[row] == options.ignore) continue;
    require(0 <= label[row] && label[row] < classes,
            "cross_entropy: label {} in row {}; logits {} have classes 0 to {}", label[row], row, logits.shape().str(),
            classes - 1);
    ++geometry.rows;
  }
  require(geometry.rows > 0, "cross_entropy: all {} labels are {}, which is ignored: nothing is left to average", n,
          options.ignore);

  Tensor loss = detail::empty_like(logits, {}), log_probabilities = detail::empty_like(logits);
  backend_for(logits).cross_entropy(logits.as_contiguous(), targets, geometry, loss, log_probabilities);
  record(loss, kCrossEntropy, {logits},
         [geometry, saved = Saved(log_probabilities), saved_labels = Saved(targets)](Tensor g, GradientSink& sink) {
           const char* op = kCrossEntropy.name();
           Tensor dlogits = sink.place(0);
           backend_for(g).cross_entropy_backward(g, saved.get(op), saved_labels.get(op), geometry, dlogits);
           sink.add(0, dlogits);
         });
  return loss;
}

Tensor mse(const Tensor& x, const Tensor& target) {
  require(x.shape() == target.shape(), "mse: x is {}, the target {}; shapes must be equal", x.shape().str(),
          target.shape().str());
  const Tensor difference = subtract(x, target);
  return mean(multiply(difference, difference));
}

}  // namespace tg
