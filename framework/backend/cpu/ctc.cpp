// CTC loss with the samples of a batch split among threads.

#include "framework/backend/plain/ctc.h"

#include "framework/backend/cpu/cpu.h"
#include "framework/core/for_each.h"

namespace tg {
namespace {

// Calls body(begin, end) for ranges of samples. A state at a step has a logarithm and some exponentials: the work of so
// many additions.
template <class Body>
void split_samples(const Tensor& log_alpha, const Body& body) {
  constexpr int64_t kAdditions = 32;
  const int64_t samples = log_alpha.dim(0), unit = log_alpha.dim(1) * log_alpha.dim(2) * kAdditions;
  detail::split_range(samples * unit, unit, [&](int64_t begin, int64_t end) { body(begin / unit, end / unit); });
}

}  // namespace

void CpuBackend::ctc_loss(const Tensor& logits, const CtcTargets& targets, Tensor& loss, Tensor& log_probabilities,
                          Tensor& log_alpha) {
  const ctc::Batch<float> batch(targets, logits.shape());
  std::vector<double> losses(static_cast<size_t>(logits.dim(0)));
  const float* x = logits.data<float>();
  float* log_y = log_probabilities.data<float>();
  double* alpha = log_alpha.data<double>();
  split_samples(log_alpha,
                [&](int64_t begin, int64_t end) { batch.forward(begin, end, x, log_y, alpha, losses.data()); });
  *loss.data<float>() = static_cast<float>(ctc::mean_of(losses));
}

void CpuBackend::ctc_loss_backward(const Tensor& gradient, const CtcTargets& targets, const Tensor& log_probabilities,
                                   const Tensor& log_alpha, Tensor& dlogits) {
  const ctc::Batch<float> batch(targets, dlogits.shape());
  const float *log_y = log_probabilities.data<float>(),
              scale = *gradient.data<float>() / static_cast<float>(dlogits.dim(0));
  const double* alpha = log_alpha.data<double>();
  float* d = dlogits.data<float>();
  split_samples(log_alpha, [&](int64_t begin, int64_t end) { batch.backward(begin, end, log_y, alpha, scale, d); });
}

}  // namespace tg
