#include "framework/ops/matmul.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

// A matrix as the backends take it: contiguous, and whether it is to be read transposed.
struct Matrix {
  Tensor stored;
  bool transposed;
};

Matrix as_matrix(const Tensor& t) {
  if (t.contiguous()) return {t, false};
  const Tensor turned = t.as_strided({t.dim(1), t.dim(0)}, {t.strides()[1], t.strides()[0]}, t.offset());
  if (turned.contiguous()) return {turned, true};
  return {t.copy(), false};
}

void product(const Matrix& a, const Matrix& b, Tensor& out) {
  backend_for(out).matmul(a.stored, a.transposed, b.stored, b.transposed, out);
}

Matrix transposed(const Matrix& m) { return {m.stored, !m.transposed}; }

}  // namespace

static const Op kMatmul{"matmul", "y = a b", "da = g b^T, db = a^T g"};
Tensor matmul(const Tensor& a, const Tensor& b) {
  detail::require_floating(kMatmul, a);
  require(a.rank() == 2 && b.rank() == 2, "matmul: takes matrices [m, k] and [k, n], got {} and {}; reshape them first",
          a.shape().str(), b.shape().str());
  require(a.dim(1) == b.dim(0),
          "matmul: {} times {}: {} columns against {} rows, which must agree; is one to be transposed (transpose2d)?",
          a.shape().str(), b.shape().str(), a.dim(1), b.dim(0));
  detail::require_alike(kMatmul, a, "b", b);
  Tensor y = detail::empty_like(a, {a.dim(0), b.dim(1)});
  product(as_matrix(a), as_matrix(b), y);
  record(y, kMatmul, {a, b},
         [saved_a = detail::save_if(detail::carries_gradient(b), a),
          saved_b = detail::save_if(detail::carries_gradient(a), b)](Tensor g, GradientSink& sink) {
           if (sink.wants(0)) {
             Tensor da = sink.place(0);
             product({g, false}, transposed(as_matrix(saved_b->get(kMatmul.name()))), da);
             sink.add(0, da);
           }
           if (sink.wants(1)) {
             Tensor db = sink.place(1);
             product(transposed(as_matrix(saved_a->get(kMatmul.name()))), {g, false}, db);
             sink.add(1, db);
           }
         });
  return y;
}

static const Op kLinear{"linear", "y = x weight^T + bias, and max(y, 0) if relu",
                        "g is 0 where y = 0 if relu; dx = g weight, dweight = g^T x, dbias = column sums of g"};
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu) {
  detail::require_floating(kLinear, x);
  require(x.rank() == 2, "linear: x must be [n, in], got {}; reshape(x, {{x.dim(0), -1}}) flattens a batch",
          x.shape().str());
  require(weight.rank() == 2 && weight.dim(1) == x.dim(1), "linear: x is {}, so weight must be [out, {}], got {}",
          x.shape().str(), x.dim(1), weight.shape().str());
  detail::require_alike(kLinear, x, "weight", weight);
  if (bias.defined()) {
    require(bias.shape() == Shape{weight.dim(0)}, "linear: weight is {}, so bias must be [{}], got {}",
            weight.shape().str(), weight.dim(0), bias.shape().str());
    detail::require_alike(kLinear, x, "bias", bias);
  }
  const Tensor rows = x.as_contiguous(), kernel = weight.as_contiguous();
  Tensor y = detail::empty_like(x, {x.dim(0), weight.dim(0)});
  backend_for(x).linear(rows, kernel, bias.defined() ? bias.as_contiguous() : bias, relu, y);
  record(y, kLinear, {x, weight, bias},
         [saved_x = detail::save_if(detail::carries_gradient(weight), rows),
          saved_weight = detail::save_if(detail::carries_gradient(x), kernel),
          saved_y = detail::save_if(relu, y)](Tensor g, GradientSink& sink) mutable {
           if (saved_y) g = detail::through_relu(std::move(g), saved_y->get(kLinear.name()));
           Backend& backend = backend_for(g);
           if (sink.wants(1)) {
             Tensor dweight = sink.place(1);
             backend.matmul(g, true, saved_x->get(kLinear.name()), false, dweight);
             sink.add(1, dweight);
           }
           if (sink.wants(2)) {
             Tensor dbias = sink.place(2);
             backend.sum(g, 1, g.dim(0), g.dim(1), dbias);
             sink.add(2, dbias);
           }
           saved_x.reset();  // before dx is made, which may then take its place in memory
           if (sink.wants(0)) {
             Tensor dx = sink.place(0);
             backend.matmul(g, false, saved_weight->get(kLinear.name()), false, dx);
             sink.add(0, dx);
           }
         });
  return y;
}

}  // namespace tg
