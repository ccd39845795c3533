// Batch normalisation by oneDNN, which takes statistics, normalises and clips in two passes over memory.

#include <cmath>

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/cpu/onednn.h"

namespace tg {
namespace {

using dnnl::memory;
using dnnl::normalization_flags;
using onednn::kFloat;
using onednn::Tag;

// A batch [N, ..., C] is to oneDNN N pictures of H x 1 pixels and C channels, channels last.
struct Problem {
  int64_t n, h, c;
  float epsilon;
  bool relu;

  Problem(const Tensor& x, const BatchNormGeometry& geometry)
      : n(x.dim(0)),
        h(x.count() / (x.dim(0) * x.dim(-1))),
        c(x.dim(-1)),
        epsilon(static_cast<float>(geometry.epsilon)),
        relu(geometry.relu) {}
  std::array<int64_t, 5> key() const { return {n, h, c, std::bit_cast<int32_t>(epsilon), relu}; }
  memory::desc data() const { return {{n, c, h, 1}, kFloat, Tag::nhwc}; }
  normalization_flags flags() const {
    const auto flags = normalization_flags::use_scale | normalization_flags::use_shift;
    return relu ? flags | normalization_flags::fuse_norm_relu : flags;
  }
};

dnnl::batch_normalization_forward::primitive_desc forward_desc(const Problem& p) {
  return {{dnnl::prop_kind::forward_training, p.data(), p.epsilon, p.flags()}, onednn::engine()};
}

struct ForwardPlan {
  explicit ForwardPlan(const Problem& p) : ForwardPlan(p, forward_desc(p)) {}
  ForwardPlan(const Problem& p, const dnnl::batch_normalization_forward::primitive_desc& desc)
      : primitive(desc), workspace_bytes(p.relu ? static_cast<int64_t>(desc.workspace_desc().get_size()) : 0) {
    for (int argument : {DNNL_ARG_SRC, DNNL_ARG_DST}) arguments.emplace(argument, onednn::unbound(p.data()));
    const memory::desc channels({p.c}, kFloat, Tag::a);
    for (int argument : {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE})
      arguments.emplace(argument, onednn::unbound(channels));
    if (p.relu) arguments.emplace(DNNL_ARG_WORKSPACE, onednn::unbound(desc.workspace_desc()));
  }
  dnnl::batch_normalization_forward primitive;
  int64_t workspace_bytes;  // which values relu clipped, a bit each
  onednn::Arguments arguments;
};

struct BackwardPlan {
  explicit BackwardPlan(const Problem& p) : BackwardPlan(p, forward_desc(p)) {}
  BackwardPlan(const Problem& p, const dnnl::batch_normalization_forward::primitive_desc& forward)
      : primitive(dnnl::batch_normalization_backward::primitive_desc(
            {dnnl::prop_kind::backward, p.data(), p.data(), p.epsilon, p.flags()}, onednn::engine(), forward)) {
    for (int argument : {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC})
      arguments.emplace(argument, onednn::unbound(p.data()));
    const memory::desc channels({p.c}, kFloat, Tag::a);
    for (int argument :
         {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_DIFF_SCALE, DNNL_ARG_DIFF_SHIFT})
      arguments.emplace(argument, onednn::unbound(channels));
    if (p.relu) arguments.emplace(DNNL_ARG_WORKSPACE, onednn::unbound(forward.workspace_desc()));
  }
  dnnl::batch_normalization_backward primitive;
  onednn::Arguments arguments;
};

// oneDNN's relu makes a NaN 0, which would hide that a run has diverged. One NaN is in all of its channel, through what
// the channel is normalised by, so that is where to look.
void restore_nan(const Tensor& scale, const Tensor& shift, const Tensor& mean, const Tensor& variance, float epsilon,
                 Tensor& y) {
  const int64_t channels = scale.count(), count = y.count();
  const float *s = scale.data<float>(), *b = shift.data<float>(), *m = mean.data<float>(), *v = variance.data<float>();
  float* out = y.data<float>();
  for (int64_t c = 0; c < channels; ++c)
    if (std::isnan(s[c] * m[c] / std::sqrt(v[c] + epsilon) + b[c]))
      for (int64_t i = c; i < count; i += channels) out[i] = NAN;
}

}  // namespace

void CpuBackend::batch_norm(const Tensor& x, const Tensor& scale, const Tensor& shift,
                            const BatchNormGeometry& geometry, Tensor& y, Tensor& mean, Tensor& variance,
                            Tensor& kept) {
  const Problem p(x, geometry);
  ForwardPlan& plan = onednn::cached<ForwardPlan>(p.key(), [&] { return ForwardPlan(p); });
  onednn::point(plan.arguments.at(DNNL_ARG_SRC), x);
  onednn::point(plan.arguments.at(DNNL_ARG_SCALE), scale);
  onednn::point(plan.arguments.at(DNNL_ARG_SHIFT), shift);
  plan.arguments.at(DNNL_ARG_DST).set_data_handle(y.raw_mutable());
  plan.arguments.at(DNNL_ARG_MEAN).set_data_handle(mean.raw_mutable());
  plan.arguments.at(DNNL_ARG_VARIANCE).set_data_handle(variance.raw_mutable());
  if (p.relu) {
    kept = Tensor::empty({plan.workspace_bytes}, DType::u8);
    plan.arguments.at(DNNL_ARG_WORKSPACE).set_data_handle(kept.raw_mutable());
  }
  plan.primitive.execute(onednn::stream(), plan.arguments);
  onednn::stream().wait();
  if (p.relu) restore_nan(scale, shift, mean, variance, p.epsilon, y);
}

void CpuBackend::batch_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, const Tensor& mean,
                                     const Tensor& variance, const Tensor& kept, const BatchNormGeometry& geometry,
                                     Tensor& dx, Tensor& dscale, Tensor& dshift) {
  const Problem p(x, geometry);
  BackwardPlan& plan = onednn::cached<BackwardPlan>(p.key(), [&] { return BackwardPlan(p); });
  onednn::point(plan.arguments.at(DNNL_ARG_SRC), x);
  onednn::point(plan.arguments.at(DNNL_ARG_DIFF_DST), gradient);
  onednn::point(plan.arguments.at(DNNL_ARG_SCALE), scale);
  onednn::point(plan.arguments.at(DNNL_ARG_SHIFT), scale);  // 2.6.3 demands one and does not look at it
  onednn::point(plan.arguments.at(DNNL_ARG_MEAN), mean);
  onednn::point(plan.arguments.at(DNNL_ARG_VARIANCE), variance);
  if (p.relu) onednn::point(plan.arguments.at(DNNL_ARG_WORKSPACE), kept);
  plan.arguments.at(DNNL_ARG_DIFF_SRC).set_data_handle(dx.raw_mutable());
  plan.arguments.at(DNNL_ARG_DIFF_SCALE).set_data_handle(dscale.raw_mutable());
  plan.arguments.at(DNNL_ARG_DIFF_SHIFT).set_data_handle(dshift.raw_mutable());
  plan.primitive.execute(onednn::stream(), plan.arguments);
  onednn::stream().wait();
}

}  // namespace tg
