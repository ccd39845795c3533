#include "dist/launch/plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "framework/core/error.h"
#include "framework/nn/models/models.h"
#include "optim/registry.h"

namespace tg {
namespace {

constexpr std::size_t kMostPlans = 10000;

// Names of the rules that have an option.
std::string rules_with(const std::string& option) {
  std::string names;
  for (const SpecInfo& info : rule_infos()) {
    const bool has =
        std::any_of(info.options.begin(), info.options.end(), [&](const OptionInfo& o) { return o.name == option; });
    if (has) names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

void settle_momentum(Plan& plan, MomentumUse use) {
  RunOptions& options = plan.options;
  if (!plan.rule_spec.has("momentum")) {
    const double asked = options.momentum.value_or(0);
    options.momentum = 0;
    if (asked == 0) return;  // a rule without momentum does as it is told
    require(use == MomentumUse::where_possible,
            "--momentum {}: rule {} has no momentum; leave it out, or choose a rule that has: {}", asked,
            plan.rule_spec.name(), rules_with("momentum"));
    plan.notes.push_back(
        fmt::format("{} has no momentum: --momentum {} is for the others", plan.rule_spec.name(), asked));
    return;
  }
  if (options.momentum) {
    require(!plan.rule_spec.given("momentum"), "the momentum of {} is given twice: by --momentum and in --rule",
            plan.rule_spec.name());
    plan.rule_spec.set("momentum", fmt::format("{}", *options.momentum));
  }
  options.momentum = plan.rule_spec.number("momentum", 0, 1);
}

// What has a column of its own is not said twice.
std::string name_without_momentum(Spec spec) {
  for (const SpecInfo& info : rule_infos()) {
    if (info.name != spec.name()) continue;
    for (const OptionInfo& option : info.options) {
      if (option.name == "momentum") spec.set(option.name, option.default_value);
    }
  }
  return spec.str();
}

}  // namespace

Plan make_plan(RunOptions options, MomentumUse use) {
  Spec rule_spec = Spec::parse(options.rule, rule_infos(), "rule");
  Spec model_spec = Spec::parse(options.model, model_infos(), "model");
  require(!options.drop_at.empty() || options.drop_factor == RunOptions{}.drop_factor,
          "--drop-factor {}: there is no --drop-at at which it would apply", options.drop_factor);
  Plan plan{std::move(options), std::move(rule_spec), std::move(model_spec), nullptr, {}};
  settle_momentum(plan, use);
  plan.rule = make_rule(plan.rule_spec);
  if (plan.rule->sequential() && plan.options.workers > 1) {
    plan.notes.push_back(
        fmt::format("{} is sequential: it runs with 1 worker, not {}", plan.rule_spec.name(), plan.options.workers));
    plan.options.workers = 1;
  }
  if (!plan.options.learning_rate) plan.options.learning_rate = 0.05 * (1 - *plan.options.momentum);
  plan.options.rule = name_without_momentum(plan.rule_spec);
  plan.options.model = plan.model_spec.str();
  return plan;
}

void add_new(const std::vector<std::string>& notes, std::vector<std::string>& to) {
  for (const std::string& note : notes) {
    if (std::find(to.begin(), to.end(), note) == to.end()) to.push_back(note);
  }
}

std::vector<Plan> make_plans(const std::vector<std::vector<std::string>>& values) {
  const std::vector<RunOption>& list = run_option_list();
  std::size_t combinations = 1;
  for (const auto& choices : values) {
    combinations *= std::max<std::size_t>(choices.size(), 1);
    require(combinations <= kMostPlans, "these lists make more than {} runs: shorten them", kMostPlans);
  }
  std::vector<Plan> plans;
  std::map<std::string, std::size_t> planned;  // places in `plans`
  for (std::size_t combination = 0; combination < combinations; ++combination) {
    RunOptions options;
    std::size_t rest = combination;
    for (std::size_t i = list.size(); i-- > 0;) {
      if (values[i].empty()) continue;
      list[i].set(options, values[i][rest % values[i].size()]);
      rest /= values[i].size();
    }
    Plan plan = make_plan(std::move(options), MomentumUse::where_possible);
    const auto [place, is_new] = planned.emplace(identity(plan, true), plans.size());
    if (is_new) {
      plans.push_back(std::move(plan));
    } else {
      add_new(plan.notes, plans[place->second].notes);
    }
  }
  return plans;
}

std::string identity(const Plan& plan, bool with_seed) {
  std::string text;
  for (const RunOption& option : run_option_list()) {
    if (with_seed || option.name != "seed") text += option.get(plan.options) + '\n';
  }
  return text;
}

std::string describe(const Plan& plan) {
  return fmt::format("{} with {} worker{} on {}", plan.options.rule, plan.options.workers,
                     plan.options.workers == 1 ? "" : "s", plan.options.model);
}

}  // namespace tg
