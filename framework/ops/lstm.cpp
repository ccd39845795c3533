#include "framework/ops/lstm.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {
namespace {

void check_weights(const Op& op, const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight,
                   const Tensor& bias) {
  require(weight.rank() == 2 && weight.dim(1) == x.dim(2) && weight.dim(0) > 0 && weight.dim(0) % 4 == 0,
          "lstm: x is {}, so weight must be [4 H, {}], got {}", x.shape().str(), x.dim(2), weight.shape().str());
  const int64_t four = weight.dim(0), hidden = four / 4;
  require(recurrent_weight.shape() == Shape{four, hidden},
          "lstm: weight is {}, so recurrent_weight must be [{}, {}], got {}", weight.shape().str(), four, hidden,
          recurrent_weight.shape().str());
  require(bias.shape() == Shape{four}, "lstm: weight is {}, so bias must be [{}], got {}", weight.shape().str(), four,
          bias.shape().str());
  detail::require_alike(op, x, "weight", weight);
  detail::require_alike(op, x, "recurrent_weight", recurrent_weight);
  detail::require_alike(op, x, "bias", bias);
}

void check_lengths(const Tensor& x, const Tensor& lengths) {
  require(lengths.dtype() == DType::i32 && lengths.shape() == Shape{x.dim(0)},
          "lstm: x is {}, so lengths must be int32 [{}], got {} {}", x.shape().str(), x.dim(0),
          name_of(lengths.dtype()), lengths.shape().str());
  require(lengths.device() == x.device(), "lstm: x is on {}, lengths on {}", name_of(x.device()),
          name_of(lengths.device()));
  const int32_t* length = lengths.data<int32_t>();
  for (int64_t n = 0; n < lengths.count(); ++n)
    require(1 <= length[n] && length[n] <= x.dim(1), "lstm: length {} of sequence {}; x {} has 1 to {} steps",
            length[n], n, x.shape().str(), x.dim(1));
}

}  // namespace

static const Op kLstm{
    "lstm",
    "(i, f, g, o) = z_t = weight x_t + recurrent_weight h_{t-1} + bias, c_t = s(f) c_{t-1} + s(i) tanh(g), y_t = h_t = "
    "s(o) tanh(c_t), with s = sigmoid",
    "from the last step to the first, with s = sigmoid and dh_t = g_t + recurrent_weight^T dz_{t+1}: "
    "dc_t = dh_t s(o) (1 - tanh(c_t)^2) + dc_{t+1} s(f_{t+1}), dz_t = (dc_t tanh(g) s'(i), dc_t c_{t-1} s'(f), "
    "dc_t s(i) tanh'(g), dh_t tanh(c_t) s'(o)); dweight = sum of dz_t x_t^T, "
    "drecurrent_weight = sum of dz_t h_{t-1}^T, dbias = sum of dz_t, dx_t = weight^T dz_t"};
Tensor lstm(const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight, const Tensor& bias,
            const Tensor& lengths) {
  detail::require_floating(kLstm, x);
  require(x.rank() == 3, "lstm: x must be [N, T, I], a batch of sequences, got {}", x.shape().str());
  require(x.dim(0) > 0 && x.dim(1) > 0 && x.dim(2) > 0,
          "lstm: x is {}; it needs at least one sequence, one step and one feature", x.shape().str());
  check_weights(kLstm, x, weight, recurrent_weight, bias);
  Tensor length;
  if (lengths.defined()) {
    length = lengths.as_contiguous();
    check_lengths(x, length);
  }

  const Tensor input = x.as_contiguous(), w = weight.as_contiguous(), u = recurrent_weight.as_contiguous();
  Tensor y = detail::empty_like(x, {x.dim(0), x.dim(1), u.dim(1)}), kept;
  backend_for(x).lstm(input, w, u, bias.as_contiguous(), length, y, kept);
  record(y, kLstm, {x, weight, recurrent_weight, bias},
         [saved_x = Saved(input), saved_w = Saved(w), saved_u = Saved(u), saved_y = Saved(y), saved_kept = Saved(kept),
          saved_length = detail::save_if(length.defined(), length)](Tensor g, GradientSink& sink) {
           const char* op = kLstm.name();
           const Tensor w = saved_w.get(op), u = saved_u.get(op);
           const auto place = [&](int input, const Tensor& like) {
             return sink.wants(input) ? sink.place(input) : detail::empty_like(like);
           };
           Tensor kept = saved_kept.get(op);
           Tensor dx = sink.wants(0) ? sink.place(0) : Tensor();
           Tensor dw = place(1, w), du = place(2, u);
           Tensor db = sink.wants(3) ? sink.place(3) : detail::empty_like(w, {w.dim(0)});
           backend_for(g).lstm_backward(g, saved_x.get(op), w, u, saved_length ? saved_length->get(op) : Tensor(),
                                        saved_y.get(op), kept, dx, dw, du, db);
           if (dx.defined()) sink.add(0, dx);
           sink.add(1, dw);
           sink.add(2, du);
           sink.add(3, db);
         });
  return y;
}

}  // namespace tg
