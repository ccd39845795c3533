#include "framework/nn/cost.h"

#include <unordered_set>

#include "framework/core/meta.h"
#include "framework/nn/parameter_entry.h"
#include "framework/ops/reduce.h"

namespace tg {
namespace {

// Lists the operations that it is told of, with the FLOPs since the one before.
class Listing {
 public:
  explicit Listing(const Parameters& parameters) : parameters_(parameters) {}

  void add(const Op& op, const Tensor& output, std::span<const Tensor> inputs) {
    OperationCost cost{"", op.name(), output.shape(), 0, meta::tally().flops - flops_};
    flops_ = meta::tally().flops;
    for (const Tensor& input : inputs) {
      const Layout::Entry* entry = entry_of(parameters_, input);
      if (entry == nullptr) continue;
      if (cost.layer.empty()) cost.layer = layer_of(*entry);
      if (used_.insert(entry).second) cost.parameters += entry->shape.count();
    }
    operations.push_back(std::move(cost));
  }

  std::vector<OperationCost> operations;

 private:
  const Parameters& parameters_;
  std::unordered_set<const Layout::Entry*> used_;
  double flops_ = meta::tally().flops;
};

int64_t bytes_of(const Tensor& t) { return t.count() * size_of(t.dtype()); }

}  // namespace

ModelCost cost_of(Model model, const Shape& batch) {
  meta::Tally& tally = meta::tally();
  const meta::Tally before = tally;
  tally.live_peak = tally.live;

  const Parameters& parameters = model.parameters();
  model.bind(Tensor::empty({model.layout().size()}, DType::f32, kMeta));
  Tensor gradient = Tensor::empty({model.layout().size()}, DType::f32, kMeta);
  const Tensor x = Tensor::empty(batch, DType::f32, kMeta);
  Listing listing(parameters);
  Tensor logits;
  {
    const WatchOps watch(
        [&](const Op& op, const Tensor& y, std::span<const Tensor> from) { listing.add(op, y, from); });
    logits = model(x, {.training = true});
  }
  const double forward = tally.flops - before.flops;
  gradients(sum(logits), parameters, gradient.span());

  return {.operations = std::move(listing.operations),
          .parameters = model.layout().count(),
          .forward_flops = forward,
          .step_flops = tally.flops - before.flops,
          .parameter_bytes = bytes_of(parameters.flat),
          .gradient_bytes = bytes_of(gradient),
          .peak_bytes = tally.live_peak - before.live};
}

}  // namespace tg
