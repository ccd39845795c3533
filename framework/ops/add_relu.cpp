// The end of a residual block in one pass.

#include "framework/ops/elementwise.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

struct AddRelu {
  template <class T>
  TG_HD T operator()(T a, T b) const {
    const T x = a + b;
    return x > 0 || x != x ? x : T{0};
  }
};

}  // namespace

static const Op kAddRelu{"add_relu", "y = max(a + b, 0)", "da = db = g where y > 0, else 0"};
Tensor add_relu(const Tensor& a, const Tensor& b) {
  detail::require_floating(kAddRelu, a);
  require(a.shape() == b.shape(), "add_relu: shapes {} and {} differ; it does not broadcast, relu(a + b) does",
          a.shape().str(), b.shape().str());
  Tensor y = detail::compute(kAddRelu, AddRelu{}, a, b);
  record(y, kAddRelu, {a, b}, [saved = Saved(y)](Tensor g, GradientSink& sink) {
    const Tensor through = detail::through_relu(std::move(g), saved.get(kAddRelu.name()));
    sink.add(0, through);
    sink.add(1, through);
  });
  return y;
}

}  // namespace tg
