// What a model costs: a table of its layers, and totals.

#include <nlohmann/json.hpp>

#include "dist/launch/commands.h"
#include "dist/launch/parse.h"
#include "dist/launch/table.h"
#include "framework/nn/cost.h"
#include "framework/nn/models/models.h"

namespace tg {
namespace {

using nlohmann::ordered_json;

constexpr int64_t kMostClasses = 1 << 20, kLargestBatch = 1 << 16;

ordered_json to_json(const Shape& shape) { return std::vector<int64_t>(shape.begin(), shape.end()); }

// As a whole number up to 2^53, as far as a double counts exactly.
ordered_json to_json(double flops) {
  return flops < 0x1p53 ? ordered_json(static_cast<int64_t>(flops)) : ordered_json(flops);
}

ordered_json to_json(const ModelCost& cost) {
  ordered_json layers = ordered_json::array();
  for (const OperationCost& o : cost.operations)
    layers.push_back({{"layer", o.layer},
                      {"operation", o.operation},
                      {"output", to_json(o.output)},
                      {"parameters", o.parameters},
                      {"flops", to_json(o.flops)}});
  return {
      {"layers", layers},
      {"parameters", cost.parameters},
      {"flops", {{"forward", to_json(cost.forward_flops)}, {"step", to_json(cost.step_flops)}}},
      {"bytes", {{"parameters", cost.parameter_bytes}, {"gradient", cost.gradient_bytes}, {"step", cost.peak_bytes}}}};
}

std::string text_of(const ModelCost& cost) {
  std::vector<std::vector<std::string>> rows;
  for (const OperationCost& o : cost.operations)
    rows.push_back({o.layer, o.operation, o.output.str(), o.parameters == 0 ? "" : fmt::format("{}", o.parameters),
                    o.flops == 0 ? "" : quantity(o.flops)});
  const auto bytes = [](int64_t n) { return quantity(static_cast<double>(n)) + "B"; };
  return table({"layer", "operation", "output", "parameters", "FLOPs"}, rows, 3) +
         fmt::format(
             "\n"
             "parameters       {}\n"
             "FLOPs, forward   {}\n"
             "FLOPs, a step    {} with the gradient\n"
             "memory, a step   {} at its peak: parameters {}, gradient {}, and what the derivative needs\n"
             "\n"
             "FLOPs are of products and convolutions, 2 for a multiplication and its addition.\n",
             cost.parameters, quantity(cost.forward_flops), quantity(cost.step_flops), bytes(cost.peak_bytes),
             bytes(cost.parameter_bytes), bytes(cost.gradient_bytes));
}

std::string summary_of(const Spec& spec) {
  for (const SpecInfo& info : model_infos())
    if (info.name == spec.name()) return info.summary;
  return "";
}

}  // namespace

int model_info(const ModelInfoOptions& options, bool json) {
  const Spec spec = Spec::parse(options.model, model_infos(), "model");
  const Shape input = options.input.empty() ? usual_input(spec) : parse_shape("--input", options.input);
  const int64_t classes =
      options.classes.empty() ? usual_classes(spec) : parse_integer("--classes", options.classes, 2, kMostClasses);
  const int64_t batch = options.batch.empty() ? 1 : parse_integer("--batch", options.batch, 1, kLargestBatch);
  const ModelCost cost = cost_of(make_model(spec, input, classes), batch_of(batch, input));
  if (json) {
    ordered_json all{{"model", spec.str()},
                     {"summary", summary_of(spec)},
                     {"input", to_json(input)},
                     {"classes", classes},
                     {"batch", batch}};
    all.update(to_json(cost));
    say(all.dump(2) + "\n");
  } else {
    say(fmt::format("{}: {}\nbatch {}, {} classes\n\n", spec.str(), summary_of(spec), batch_of(batch, input).str(),
                    classes) +
        text_of(cost));
  }
  return 0;
}

}  // namespace tg
