#include "framework/ops/ctc.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

void require_ints(const Op& op, const char* what, const Tensor& t, const Shape& shape, const Tensor& logits) {
  require(t.dtype() == DType::i32 && t.shape() == shape, "{}: logits are {}, so {} must be int32 {}, got {} {}",
          op.name(), logits.shape().str(), what, shape.str(), name_of(t.dtype()), t.shape().str());
  require(t.device() == logits.device(), "{}: logits are on {}, {} on {}", op.name(), name_of(logits.device()), what,
          name_of(t.device()));
}

void check_sample(int64_t n, const Shape& logits, const int32_t* label, int64_t most_labels, int32_t length,
                  int32_t steps) {
  require(1 <= steps && steps <= logits[1],
          "ctc_loss: sample {} has an input length of {}; logits {} have 1 to {} steps", n, steps, logits.str(),
          logits[1]);
  require(0 <= length && length <= most_labels, "ctc_loss: sample {} has a label length of {}; labels hold 0 to {}", n,
          length, most_labels);
  int64_t repeats = 0;
  for (int64_t i = 0; i < length; ++i) {
    require(1 <= label[i] && label[i] < logits[2],
            "ctc_loss: sample {} has label {} at position {}; labels are 1 to {}, 0 is the blank", n, label[i], i,
            logits[2] - 1);
    repeats += i > 0 && label[i] == label[i - 1];
  }
  require(
      length + repeats <= steps,
      "ctc_loss: sample {} has {} entries, {} of them like the one before, and {} steps; it takes {} (equal entries "
      "need a blank between). Give it more steps or leave it out",
      n, length, repeats, steps, length + repeats);
}

}  // namespace

static const Op kCtcLoss{
    "ctc_loss",
    "loss = -(1/N) sum over n of log p_n, p_n = sum over the paths that read label n of the product of the softmax at "
    "each step",
    "dlogits = g / N (softmax - sum over the class's states of alpha beta / p_n) at the steps that count, else 0"};
Tensor ctc_loss(const Tensor& logits, const Tensor& labels, const Tensor& input_lengths, const Tensor& label_lengths) {
  detail::require_floating(kCtcLoss, logits);
  require(logits.rank() == 3 && logits.count() > 0,
          "ctc_loss: logits must be [N, T, classes] with at least one of each, got {}", logits.shape().str());
  require(labels.rank() == 2, "ctc_loss: labels must be int32 [N, L], padded to one length; got {}",
          labels.shape().str());
  const int64_t samples = logits.dim(0), steps = logits.dim(1), most_labels = labels.dim(1);
  require_ints(kCtcLoss, "labels", labels, {samples, most_labels}, logits);
  require_ints(kCtcLoss, "input_lengths", input_lengths, {samples}, logits);
  require_ints(kCtcLoss, "label_lengths", label_lengths, {samples}, logits);
  const CtcTargets targets{labels.as_contiguous(), label_lengths.as_contiguous(), input_lengths.as_contiguous()};
  const int32_t *label = targets.labels.data<int32_t>(), *length = targets.label_lengths.data<int32_t>(),
                *used = targets.input_lengths.data<int32_t>();
  for (int64_t n = 0; n < samples; ++n)
    check_sample(n, logits.shape(), label + n * most_labels, most_labels, length[n], used[n]);

  Tensor loss = detail::empty_like(logits, {}), log_probabilities = detail::empty_like(logits);
  Tensor log_alpha = Tensor::empty({samples, steps, 2 * most_labels + 1}, DType::f64, logits.device());
  backend_for(logits).ctc_loss(logits.as_contiguous(), targets, loss, log_probabilities, log_alpha);
  record(loss, kCtcLoss, {logits},
         [saved = Saved(log_probabilities), saved_alpha = Saved(log_alpha), saved_labels = Saved(targets.labels),
          saved_lengths = Saved(targets.label_lengths),
          saved_steps = Saved(targets.input_lengths)](Tensor g, GradientSink& sink) {
           const char* op = kCtcLoss.name();
           Tensor dlogits = sink.place(0);
           backend_for(g).ctc_loss_backward(g, {saved_labels.get(op), saved_lengths.get(op), saved_steps.get(op)},
                                            saved.get(op), saved_alpha.get(op), dlogits);
           sink.add(0, dlogits);
         });
  return loss;
}

}  // namespace tg
