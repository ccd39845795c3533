#include "framework/nn/lstm.h"

#include <cmath>
#include <limits>

#include "framework/ops/join.h"
#include "framework/ops/lstm.h"
#include "framework/ops/shape.h"

namespace tg {
namespace {

Init start_of(int64_t hidden) {
  require(hidden > 0, "Lstm: {} hidden units", hidden);
  return {Init::Kind::uniform, 1 / std::sqrt(static_cast<double>(hidden))};
}

}  // namespace

Lstm::Lstm(const Options& o)
    : options(o),
      weight{{4 * o.hidden, o.in}, start_of(o.hidden), {}},
      recurrent_weight{{4 * o.hidden, o.hidden}, start_of(o.hidden), {}},
      bias{{4 * o.hidden}, {.kind = Init::Kind::constant, .scale = 1, .first = o.hidden, .last = 2 * o.hidden}, {}} {}

Tensor Lstm::operator()(const Tensor& x, const Context& context) const {
  require(x.rank() == 3 && x.dim(2) == options.in, "{}: Lstm takes [N, T, {}], got {}", path, options.in,
          x.shape().str());
  return lstm(x, weight.value, recurrent_weight.value, bias.value, context.lengths);
}

Tensor last_steps(const Tensor& h, const Tensor& lengths) {
  require(h.rank() == 3 && h.count() > 0 && h.dim(0) * h.dim(1) <= std::numeric_limits<int32_t>::max(),
          "last_steps: takes [N, T, C] of at most 2^31 steps, got {}", h.shape().str());
  const int64_t n = h.dim(0), steps = h.dim(1), width = h.dim(2);
  if (!lengths.defined()) return reshape(slice(h, 1, steps - 1, steps), {n, width});
  require(lengths.shape() == Shape{n}, "last_steps: lengths {} of {} sequences", lengths.shape().str(), n);
  const int32_t* length = lengths.data<int32_t>();
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < n; ++i) {
    require(1 <= length[i] && length[i] <= steps, "last_steps: length {} of sequence {}; it has 1 to {} steps",
            length[i], i, steps);
    rows.push_back(static_cast<int32_t>(i * steps) + length[i] - 1);
  }
  return gather(reshape(h, {n * steps, width}), 0, Tensor::from(rows, {n}, h.device()));
}

}  // namespace tg
