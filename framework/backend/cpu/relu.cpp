#include "framework/backend/cpu/relu.h"

#include "framework/backend/cpu/cpu.h"
#include "framework/core/for_each.h"

namespace tg {
namespace {

struct Clip {
  TG_HD void operator()(float& y) const { y = y > 0 || y != y ? y : 0.0f; }
};

// In place, the gradient is the output: for_each wants vectors that do not overlap, so there are two formulas.
struct MaskInPlace {
  TG_HD void operator()(float& g, float y) const { g = y > 0 ? g : 0.0f; }
};
struct Mask {
  TG_HD void operator()(float& g, float gradient, float y) const { g = y > 0 ? gradient : 0.0f; }
};

}  // namespace

void relu_in_place(Tensor& y) { for_each(Clip{}, y.span()); }

void CpuBackend::relu_backward(const Tensor& gradient, const Tensor& y, Tensor& g) {
  if (g.raw() == gradient.raw()) return for_each(MaskInPlace{}, g.span(), y.view());
  for_each(Mask{}, g.span(), gradient.view(), y.view());
}

}  // namespace tg
