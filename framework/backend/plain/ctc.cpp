#include "framework/backend/plain/ctc.h"

#include "framework/backend/plain/plain.h"

namespace tg {

void PlainBackend::ctc_loss(const Tensor& logits, const CtcTargets& targets, Tensor& loss, Tensor& log_probabilities,
                            Tensor& log_alpha) {
  visit_floating(logits.dtype(), "ctc_loss", [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> losses(static_cast<size_t>(logits.dim(0)));
    ctc::Batch<T>(targets, logits.shape())
        .forward(0, logits.dim(0), logits.data<T>(), log_probabilities.data<T>(), log_alpha.data<double>(),
                 losses.data());
    *loss.data<T>() = static_cast<T>(ctc::mean_of(losses));
  });
}

void PlainBackend::ctc_loss_backward(const Tensor& gradient, const CtcTargets& targets, const Tensor& log_probabilities,
                                     const Tensor& log_alpha, Tensor& dlogits) {
  visit_floating(dlogits.dtype(), "ctc_loss", [&](auto zero) {
    using T = decltype(zero);
    const int64_t samples = dlogits.dim(0);
    ctc::Batch<T>(targets, dlogits.shape())
        .backward(0, samples, log_probabilities.data<T>(), log_alpha.data<double>(),
                  *gradient.data<T>() / static_cast<T>(samples), dlogits.data<T>());
  });
}

}  // namespace tg
