#include "framework/nn/norm.h"

#include "framework/core/for_each.h"

namespace tg {
namespace {

const Init kOnes{Init::Kind::constant, 1};

struct MoveTowards {
  float rate, factor;
  // At rate 1 nothing is left of what was there, not even a NaN.
  TG_HD void operator()(float& running, float batch) const {
    running = rate < 1 ? (1 - rate) * running + rate * (factor * batch) : factor * batch;
  }
};

}  // namespace

BatchNorm::BatchNorm(const Options& o)
    : options(o),
      scale{{o.channels}, kOnes, {}},
      shift{{o.channels}, zeros_init(), {}},
      mean{{o.channels}, 0, {}},
      variance{{o.channels}, 1, {}} {}

Tensor BatchNorm::operator()(const Tensor& x, const Context& context) const {
  require(x.rank() >= 2 && x.dim(-1) == options.channels, "{}: BatchNorm takes [..., {}], got {}", path,
          options.channels, x.shape().str());
  const BatchNormOptions how{.epsilon = options.epsilon, .relu = options.relu};
  if (!context.training) return batch_norm_fixed(x, scale.value, shift.value, mean.value, variance.value, how);
  const int64_t rows = x.count() / options.channels;
  require(rows >= 2, "{}: BatchNorm got {}: one value a channel has no variance; train with a larger batch", path,
          x.shape().str());
  BatchStatistics batch;
  const Tensor y = batch_norm(x, scale.value, shift.value, how, &batch);
  if (context.buffer_rate != 0) {
    Tensor running_mean = mean.value, running_variance = variance.value;
    const float rate = static_cast<float>(context.buffer_rate);
    const float unbiased = static_cast<float>(static_cast<double>(rows) / static_cast<double>(rows - 1));
    for_each(MoveTowards{rate, 1}, running_mean.span(), batch.mean.view());
    for_each(MoveTowards{rate, unbiased}, running_variance.span(), batch.variance.view());
  }
  return y;
}

LayerNorm::LayerNorm(const Options& o)
    : options(o), scale{{o.channels}, kOnes, {}}, shift{{o.channels}, zeros_init(), {}} {}

Tensor LayerNorm::operator()(const Tensor& x, const Context&) const {
  require(x.rank() >= 2 && x.dim(-1) == options.channels, "{}: LayerNorm takes [..., {}], got {}", path,
          options.channels, x.shape().str());
  return layer_norm(x, scale.value, shift.value, options.epsilon);
}

}  // namespace tg
