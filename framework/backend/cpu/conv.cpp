// Convolutions by oneDNN: activations plain channels-last, weights in the form that oneDNN picks, reordered in each
// call (a millisecond of a 240 ms ResNet-20 step).

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/cpu/onednn.h"
#include "framework/backend/cpu/relu.h"
#include "framework/backend/cpu/sparse_conv.h"

namespace tg {
namespace {

using dnnl::memory;
using onednn::Arguments;
using onednn::kFloat;
using onednn::Tag;

// A convolution's sizes: what a primitive is built for.
struct Problem {
  int64_t n, h, w, c, k, r, s, oh, ow, stride, padding, dilation, groups;
  bool bias;

  std::array<int64_t, 14> key() const { return {n, h, w, c, k, r, s, oh, ow, stride, padding, dilation, groups, bias}; }
  memory::desc source() const { return {{n, c, h, w}, kFloat, Tag::nhwc}; }
  memory::desc result() const { return {{n, k, oh, ow}, kFloat, Tag::nhwc}; }
  // Ours are [K, R, S, C / groups]; with groups oneDNN counts the groups as a dimension of its own.
  memory::desc weights() const {
    return groups == 1 ? memory::desc({k, c, r, s}, kFloat, Tag::ohwi) : memory::desc(grouped(), kFloat, Tag::gohwi);
  }
  memory::desc any_weights() const {
    return groups == 1 ? memory::desc({k, c, r, s}, kFloat, Tag::any) : memory::desc(grouped(), kFloat, Tag::any);
  }
  memory::dims grouped() const { return {groups, k / groups, c / groups, r, s}; }
  memory::desc bias_desc() const { return {{k}, kFloat, Tag::a}; }
  memory::dims strides() const { return {stride, stride}; }
  memory::dims dilates() const { return {dilation - 1, dilation - 1}; }
  memory::dims pads() const { return {padding, padding}; }
  // At the far side oneDNN wants the padding that makes the sizes agree when the stride does not divide.
  memory::dims far_pads() const {
    return {(oh - 1) * stride + dilation * (r - 1) + 1 - h - padding,
            (ow - 1) * stride + dilation * (s - 1) + 1 - w - padding};
  }
};

Problem problem_of(const Shape& x, const Shape& weight, const Shape& y, const ConvGeometry& g, bool bias) {
  return {x[0], x[1], x[2],     x[3],      weight[0],  weight[1], weight[2],
          y[1], y[2], g.stride, g.padding, g.dilation, g.groups,  bias};
}

constexpr auto kAlgorithm = dnnl::algorithm::convolution_auto;

dnnl::convolution_forward::primitive_desc forward_desc(const Problem& p) {
  const auto kind = dnnl::prop_kind::forward_training;
  const auto any = p.any_weights();
  const auto desc = p.bias
                        ? dnnl::convolution_forward::desc(kind, kAlgorithm, p.source(), any, p.bias_desc(), p.result(),
                                                          p.strides(), p.dilates(), p.pads(), p.far_pads())
                        : dnnl::convolution_forward::desc(kind, kAlgorithm, p.source(), any, p.result(), p.strides(),
                                                          p.dilates(), p.pads(), p.far_pads());
  return {desc, onednn::engine()};
}

// Weights in oneDNN's form beside weights in ours, and the primitive that turns one into the other.
struct WeightForm {
  memory ours, theirs;
  dnnl::reorder reorder;
  bool same;

  WeightForm(const Problem& p, const memory::desc& wanted, bool to_ours)
      : ours(onednn::unbound(p.weights())),
        theirs(onednn::unbound(wanted)),
        reorder(to_ours ? dnnl::reorder(theirs, ours) : dnnl::reorder(ours, theirs)),
        same(ours.get_desc() == wanted) {}

  // Fills `theirs` from a tensor; the result holds the copy and must outlive the convolution.
  Tensor import(const Tensor& weight) {
    onednn::point(ours, weight);
    if (same) {
      onednn::point(theirs, weight);
      return weight;
    }
    const Tensor copy = onednn::scratch(theirs.get_desc());
    onednn::point(theirs, copy);
    reorder.execute(onednn::stream(), ours, theirs);
    return copy;
  }
};

struct ForwardPlan {
  explicit ForwardPlan(const Problem& p) : ForwardPlan(p, forward_desc(p)) {}
  ForwardPlan(const Problem& p, const dnnl::convolution_forward::primitive_desc& desc)
      : convolution(desc),
        weights(p, desc.weights_desc(), false),
        arguments{{DNNL_ARG_SRC, onednn::unbound(desc.src_desc())},
                  {DNNL_ARG_WEIGHTS, weights.theirs},
                  {DNNL_ARG_DST, onednn::unbound(desc.dst_desc())}} {
    if (p.bias) arguments.emplace(DNNL_ARG_BIAS, onednn::unbound(p.bias_desc()));
  }
  dnnl::convolution_forward convolution;
  WeightForm weights;
  Arguments arguments;
};

struct BackwardDataPlan {
  explicit BackwardDataPlan(const Problem& p)
      : BackwardDataPlan(
            p, {{kAlgorithm, p.source(), p.any_weights(), p.result(), p.strides(), p.dilates(), p.pads(), p.far_pads()},
                onednn::engine(),
                forward_desc(p)}) {}
  BackwardDataPlan(const Problem& p, const dnnl::convolution_backward_data::primitive_desc& desc)
      : convolution(desc),
        weights(p, desc.weights_desc(), false),
        arguments{{DNNL_ARG_DIFF_DST, onednn::unbound(desc.diff_dst_desc())},
                  {DNNL_ARG_WEIGHTS, weights.theirs},
                  {DNNL_ARG_DIFF_SRC, onednn::unbound(desc.diff_src_desc())}} {}
  dnnl::convolution_backward_data convolution;
  WeightForm weights;
  Arguments arguments;
};

dnnl::convolution_backward_weights::primitive_desc backward_weights_desc(const Problem& p) {
  const auto any = p.any_weights();
  const auto desc =
      p.bias ? dnnl::convolution_backward_weights::desc(kAlgorithm, p.source(), any, p.bias_desc(), p.result(),
                                                        p.strides(), p.dilates(), p.pads(), p.far_pads())
             : dnnl::convolution_backward_weights::desc(kAlgorithm, p.source(), any, p.result(), p.strides(),
                                                        p.dilates(), p.pads(), p.far_pads());
  return {desc, onednn::engine(), forward_desc(p)};
}

struct BackwardWeightsPlan {
  explicit BackwardWeightsPlan(const Problem& p) : BackwardWeightsPlan(p, backward_weights_desc(p)) {}
  BackwardWeightsPlan(const Problem& p, const dnnl::convolution_backward_weights::primitive_desc& desc)
      : convolution(desc),
        weights(p, desc.diff_weights_desc(), true),
        arguments{{DNNL_ARG_SRC, onednn::unbound(desc.src_desc())},
                  {DNNL_ARG_DIFF_DST, onednn::unbound(desc.diff_dst_desc())},
                  {DNNL_ARG_DIFF_WEIGHTS, weights.theirs}} {
    if (p.bias) arguments.emplace(DNNL_ARG_DIFF_BIAS, onednn::unbound(p.bias_desc()));
  }
  dnnl::convolution_backward_weights convolution;
  WeightForm weights;
  Arguments arguments;
};

template <class Plan>
Plan& plan_for(const Problem& p) {
  return onednn::cached<Plan>(p.key(), [&] { return Plan(p); });
}

}  // namespace

void CpuBackend::conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvGeometry& geometry,
                        bool relu, Tensor& y) {
  const Problem p = problem_of(x.shape(), weight.shape(), y.shape(), geometry, bias.defined());
  ForwardPlan& plan = plan_for<ForwardPlan>(p);
  const Tensor kept = plan.weights.import(weight);
  onednn::point(plan.arguments.at(DNNL_ARG_SRC), x);
  plan.arguments.at(DNNL_ARG_DST).set_data_handle(y.raw_mutable());
  if (p.bias) onednn::point(plan.arguments.at(DNNL_ARG_BIAS), bias);
  plan.convolution.execute(onednn::stream(), plan.arguments);
  onednn::stream().wait();
  if (relu) relu_in_place(y);
}

void CpuBackend::conv2d_backward_data(const Tensor& gradient, const Tensor& weight, const ConvGeometry& geometry,
                                      Tensor& dx) {
  if (sparse_conv::pays(gradient, weight.shape(), geometry))
    return sparse_conv::backward_data(gradient, weight, geometry, dx);
  const Problem p = problem_of(dx.shape(), weight.shape(), gradient.shape(), geometry, false);
  BackwardDataPlan& plan = plan_for<BackwardDataPlan>(p);
  const Tensor kept = plan.weights.import(weight);
  onednn::point(plan.arguments.at(DNNL_ARG_DIFF_DST), gradient);
  plan.arguments.at(DNNL_ARG_DIFF_SRC).set_data_handle(dx.raw_mutable());
  plan.convolution.execute(onednn::stream(), plan.arguments);
  onednn::stream().wait();
}

void CpuBackend::conv2d_backward_weights(const Tensor& x, const Tensor& gradient, const ConvGeometry& geometry,
                                         Tensor& dweight, Tensor& dbias) {
  if (sparse_conv::pays(gradient, dweight.shape(), geometry))
    return sparse_conv::backward_weights(x, gradient, geometry, dweight, dbias);
  const Problem p = problem_of(x.shape(), dweight.shape(), gradient.shape(), geometry, dbias.defined());
  BackwardWeightsPlan& plan = plan_for<BackwardWeightsPlan>(p);
  WeightForm& weights = plan.weights;
  weights.ours.set_data_handle(dweight.raw_mutable());
  Tensor theirs = weights.same ? dweight : onednn::scratch(weights.theirs.get_desc());
  weights.theirs.set_data_handle(theirs.raw_mutable());
  onednn::point(plan.arguments.at(DNNL_ARG_SRC), x);
  onednn::point(plan.arguments.at(DNNL_ARG_DIFF_DST), gradient);
  if (p.bias) plan.arguments.at(DNNL_ARG_DIFF_BIAS).set_data_handle(dbias.raw_mutable());
  plan.convolution.execute(onednn::stream(), plan.arguments);
  if (!weights.same) weights.reorder.execute(onednn::stream(), weights.theirs, weights.ours);
  onednn::stream().wait();
}

}  // namespace tg
