#include "framework/ops/norm.h"

#include <cmath>

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

// Checks x [..., C], vectors [C] and epsilon; returns the number of rows.
int64_t check_channels(const Op& op, const Tensor& x, double epsilon,
                       std::initializer_list<std::pair<const char*, const Tensor*>> vectors) {
  detail::require_floating(op, x);
  require(x.rank() >= 2, "{}: x must be [..., C], got {}", op.name(), x.shape().str());
  const int64_t channels = x.dim(-1);
  for (const auto& [name, v] : vectors) {
    require(v->shape() == Shape{channels}, "{}: x is {}, so {} must be [{}], got {}", op.name(), x.shape().str(), name,
            channels, v->shape().str());
    detail::require_alike(op, x, name, *v);
  }
  require(epsilon >= 0 && std::isfinite(epsilon), "{}: epsilon {} is added to a variance; it is 0 or more", op.name(),
          epsilon);
  return channels == 0 ? 0 : x.count() / channels;
}

}  // namespace

static const Op kBatchNorm{
    "batch_norm", "xhat = (x - mean) / sqrt(variance + epsilon), y = scale xhat + shift, and max(y, 0) if relu",
    "g is 0 where y = 0 if relu; dshift = sum of g, dscale = sum of g xhat, "
    "dx = scale / sqrt(variance + epsilon) (g - dshift / rows - xhat dscale / rows)"};
Tensor batch_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, const BatchNormOptions& options,
                  BatchStatistics* statistics) {
  const int64_t rows = check_channels(kBatchNorm, x, options.epsilon, {{"scale", &scale}, {"shift", &shift}});
  require(
      rows >= 2,
      "batch_norm: x {} has {} value a channel; its variance says nothing. Train with a larger batch, or evaluate with "
      "batch_norm_fixed()",
      x.shape().str(), rows);
  const BatchNormGeometry geometry{options.epsilon, options.relu};
  const Tensor input = x.as_contiguous(), s = scale.as_contiguous();
  Tensor y = detail::empty_like(x), mean = detail::empty_like(scale), variance = detail::empty_like(scale), kept;
  backend_for(x).batch_norm(input, s, shift.as_contiguous(), geometry, y, mean, variance, kept);
  if (statistics != nullptr) *statistics = {mean, variance, rows};
  record(y, kBatchNorm, {x, scale, shift},
         [geometry, saved_x = Saved(input), saved_scale = Saved(s), saved_mean = Saved(mean),
          saved_variance = Saved(variance),
          saved_kept = detail::save_if(kept.defined(), kept)](Tensor g, GradientSink& sink) {
           const char* op = kBatchNorm.name();
           const Tensor mean = saved_mean.get(op), variance = saved_variance.get(op);
           const Tensor kept = saved_kept ? saved_kept->get(op) : Tensor();
           Tensor dx = sink.wants(0) ? sink.place(0) : detail::empty_like(g);
           Tensor dscale = sink.wants(1) ? sink.place(1) : detail::empty_like(mean);
           Tensor dshift = sink.wants(2) ? sink.place(2) : detail::empty_like(mean);
           backend_for(g).batch_norm_backward(g, saved_x.get(kBatchNorm.name()), saved_scale.get(kBatchNorm.name()),
                                              mean, variance, kept, geometry, dx, dscale, dshift);
           sink.add(0, dx);
           sink.add(1, dscale);
           sink.add(2, dshift);
         });
  return y;
}

static const Op kBatchNormFixed{"batch_norm_fixed",
                                "xhat = (x - mean) / sqrt(variance + epsilon), y = scale xhat + shift, and max(y, 0) "
                                "if relu; mean and variance are constants",
                                "g is 0 where y = 0 if relu; dshift = sum of g, dscale = sum of g xhat, "
                                "dx = g scale / sqrt(variance + epsilon)"};
Tensor batch_norm_fixed(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& mean,
                        const Tensor& variance, const BatchNormOptions& options) {
  check_channels(kBatchNormFixed, x, options.epsilon,
                 {{"scale", &scale}, {"shift", &shift}, {"mean", &mean}, {"variance", &variance}});
  const BatchNormGeometry geometry{options.epsilon, options.relu};
  const Tensor input = x.as_contiguous(), s = scale.as_contiguous(), m = mean.as_contiguous(),
               v = variance.as_contiguous();
  Tensor y = detail::empty_like(x);
  backend_for(x).batch_norm_fixed(input, s, shift.as_contiguous(), m, v, geometry, y);
  record(y, kBatchNormFixed, {x, scale, shift},
         [geometry, saved_x = Saved(input), saved_y = detail::save_if(options.relu, y), saved_scale = Saved(s),
          saved_mean = Saved(m), saved_variance = Saved(v)](Tensor g, GradientSink& sink) {
           const char* op = kBatchNormFixed.name();
           const Tensor scale = saved_scale.get(op), y = saved_y ? saved_y->get(op) : Tensor();
           Tensor dx = sink.wants(0) ? sink.place(0) : detail::empty_like(g);
           Tensor dscale = sink.wants(1) ? sink.place(1) : detail::empty_like(scale);
           Tensor dshift = sink.wants(2) ? sink.place(2) : detail::empty_like(scale);
           backend_for(g).batch_norm_fixed_backward(g, saved_x.get(op), y, scale, saved_mean.get(op),
                                                    saved_variance.get(op), geometry, dx, dscale, dshift);
           sink.add(0, dx);
           sink.add(1, dscale);
           sink.add(2, dshift);
         });
  return y;
}

static const Op kLayerNorm{
    "layer_norm", "xhat = (x - mean) / sqrt(variance + epsilon) of each row, y = scale xhat + shift",
    "dshift = sum of g, dscale = sum of g xhat; with h = g scale, "
    "dx = (h - mean of h - xhat mean of (h xhat)) / sqrt(variance + epsilon), means over the row"};
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, double epsilon) {
  check_channels(kLayerNorm, x, epsilon, {{"scale", &scale}, {"shift", &shift}});
  require(x.dim(-1) >= 2, "layer_norm: rows of {} value; x is {}", x.dim(-1), x.shape().str());
  const Tensor input = x.as_contiguous(), s = scale.as_contiguous();
  Tensor y = detail::empty_like(x);
  backend_for(x).layer_norm(input, s, shift.as_contiguous(), epsilon, y);
  record(y, kLayerNorm, {x, scale, shift},
         [epsilon, saved_x = Saved(input), saved_scale = Saved(s)](Tensor g, GradientSink& sink) {
           const Tensor in = saved_x.get(kLayerNorm.name()), factor = saved_scale.get(kLayerNorm.name());
           Tensor dx = sink.wants(0) ? sink.place(0) : detail::empty_like(g);
           Tensor dscale = sink.wants(1) ? sink.place(1) : detail::empty_like(factor);
           Tensor dshift = sink.wants(2) ? sink.place(2) : detail::empty_like(factor);
           backend_for(g).layer_norm_backward(g, in, factor, epsilon, dx, dscale, dshift);
           sink.add(0, dx);
           sink.add(1, dscale);
           sink.add(2, dshift);
         });
  return y;
}

static const Op kLocalResponseNorm{
    "local_response_norm", "n_c = k + alpha / size * sum of x_j^2 around c, y = x n^-beta",
    "dx_c = g_c n_c^-beta - 2 alpha beta / size x_c sum of g_j y_j / n_j over the j whose window has c"};
Tensor local_response_norm(const Tensor& x, const LocalResponseNormOptions& options) {
  detail::require_floating(kLocalResponseNorm, x);
  require(x.rank() >= 2, "local_response_norm: x must be [..., C], got {}", x.shape().str());
  require(options.size >= 1 && options.size <= 1024 && options.k > 0 && options.alpha >= 0 &&
              std::isfinite(options.k + options.alpha + options.beta),
          "local_response_norm: size {}, k {}, alpha {}, beta {}; size is 1 to 1024, k positive, alpha not negative",
          options.size, options.k, options.alpha, options.beta);
  const ResponseNormGeometry geometry{options.size, options.alpha, options.beta, options.k};
  const Tensor input = x.as_contiguous();
  Tensor y = detail::empty_like(x);
  backend_for(x).local_response_norm(input, geometry, y);
  record(y, kLocalResponseNorm, {x}, [geometry, saved_x = Saved(input)](Tensor g, GradientSink& sink) {
    Tensor dx = sink.place(0);
    backend_for(g).local_response_norm_backward(g, saved_x.get(kLocalResponseNorm.name()), geometry, dx);
    sink.add(0, dx);
  });
  return y;
}

}  // namespace tg
