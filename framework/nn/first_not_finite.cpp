#include "framework/nn/first_not_finite.h"

#include <cmath>

#include "framework/core/reduce.h"
#include "framework/nn/parameter_entry.h"

namespace tg {
namespace {

struct NotFinite {
  template <class T>
  TG_HD T operator()(T v) const {
    return std::isfinite(v) ? T{0} : T{1};
  }
};

bool all_finite(const Tensor& t) {
  if (!is_floating(t.dtype())) return true;
  const Tensor values = t.as_contiguous();
  return visit_floating(values.dtype(), "first_not_finite", [&](auto zero) {
    using T = decltype(zero);
    return reduce_sum(NotFinite{}, values.elements<T>()) == 0;
  });
}

// The layer whose parameters are among an operation's inputs; empty if none are.
std::string layer_of(const Parameters& parameters, std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs)
    if (const Layout::Entry* entry = entry_of(parameters, input)) return layer_of(*entry);
  return "";
}

}  // namespace

std::string first_not_finite(const Parameters& parameters, const std::function<void()>& compute) {
  for (size_t i = 0; i < parameters.leaves.size(); ++i)
    if (!all_finite(parameters.leaves[i])) return "the parameter " + parameters.layout.entries()[i].name;
  std::string found, last_layer;
  const WatchOps watch([&](const Op& op, const Tensor& output, std::span<const Tensor> inputs) {
    if (!found.empty()) return;
    const std::string layer = layer_of(parameters, inputs);
    if (!layer.empty()) last_layer = layer;
    if (all_finite(output)) return;
    found = fmt::format("{} {}", op.name(), output.shape().str());
    if (!last_layer.empty()) found += (layer.empty() ? ", after " : " of ") + last_layer;
  });
  compute();
  return found;
}

}  // namespace tg
