#include "framework/ops/dropout.h"

#include "framework/backend/backend.h"
#include "framework/ops/internal.h"

namespace tg {

static const Op kDropout{"dropout", "y_i = x_i / (1 - rate) if uniform(i) >= rate, else 0",
                         "dx = g by the same mask, which is drawn again"};
Tensor dropout(const Tensor& x, double rate, const Stream& stream) {
  detail::require_floating(kDropout, x);
  require(rate >= 0 && rate < 1, "dropout: a rate of {}; it is the share of zeros, 0 or more and less than 1", rate);
  if (rate == 0) return x;
  Tensor y = detail::empty_like(x);
  backend_for(x).dropout(x.as_contiguous(), rate, stream, y);
  record(y, kDropout, {x}, [rate, stream](Tensor g, GradientSink& sink) {
    Tensor dx = sink.place(0);
    backend_for(g).dropout(g, rate, stream, dx);
    sink.add(0, dx);
  });
  return y;
}

}  // namespace tg
