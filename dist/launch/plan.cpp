#include "dist/launch/plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "datasets/registry.h"
#include "dist/launch/recipes.h"
#include "framework/core/error.h"
#include "framework/nn/models/models.h"
#include "optim/registry.h"

namespace tg {
namespace {

constexpr std::size_t kMostPlans = 10000;
constexpr int64_t kMostThreads = 4096;  // of a run: where the system starts no more, OpenMP ends the process

// The names of the rules that have this option, with commas.
std::string rules_with(const std::string& option) {
  std::string names;
  for (const SpecInfo& info : rule_infos()) {
    const bool has =
        std::any_of(info.options.begin(), info.options.end(), [&](const OptionInfo& o) { return o.name == option; });
    if (has) names += (names.empty() ? "" : ", ") + info.name;
  }
  return names;
}

// What of a recipe is an option of the rule.
void settle_recipe(Plan& plan) {
  RunOptions& options = plan.options;
  if (options.recipe.empty()) return;
  const Recipe& recipe = find_recipe(options.recipe);
  std::string known;
  bool found = false;
  for (const std::string& name : dataset_names()) {
    known += " --data " + name;
    found = found || name == options.data;
  }
  require(found,
          "--recipe {}: it is for the data set {}, which this version cannot read; use the rest of the recipe with "
          "another, one of:{}",
          recipe.name, options.data, known);
  const auto offer = [&](const char* name, const std::optional<double>& value) {
    if (!value || plan.rule_spec.given(name)) return;
    if (plan.rule_spec.has(name)) return plan.rule_spec.set(name, fmt::format("{}", *value));
    plan.notes.push_back(
        fmt::format("{} has no {}: that of the recipe, {}, is for the others", plan.rule_spec.name(), name, *value));
  };
  if (!options.momentum) offer("momentum", recipe.momentum);
  offer("weight-decay", recipe.weight_decay);
}

void settle_momentum(Plan& plan, Unfit unfit) {
  RunOptions& options = plan.options;
  if (!plan.rule_spec.has("momentum")) {
    const double asked = options.momentum.value_or(0);
    options.momentum = 0;
    if (asked == 0) return;  // --momentum 0 asks for what such a rule does anyway
    require(unfit == Unfit::leave_out,
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

// Throws Error with this reason, or notes it for the user and goes on.
void leave_out(Plan& plan, Unfit unfit, const std::string& reason) {
  require(unfit == Unfit::leave_out, "{}", reason);
  plan.notes.push_back(reason + "; left out here");
}

// Looks for options that have a meaning only for another engine.
void settle_engine(Plan& plan, Unfit unfit) {
  const RunOptions defaults;
  for (const RunOption& option : run_option_list()) {
    if (option.engine == nullptr || option.engine == plan.options.engine) continue;
    const std::string value = option.get(plan.options), usual = option.get(defaults);
    if (value == usual) continue;
    leave_out(plan, unfit,
              fmt::format("{} {} is for --engine {}, not {}", option.flag, value, option.engine, plan.options.engine));
    option.set(plan.options, usual);
  }
  require(plan.options.shards == 1 || plan.rule->shardable(), "--shards {}: {} needs the whole vector: use 1",
          plan.options.shards, plan.rule_spec.name());
}

void settle_gate(Plan& plan, Unfit unfit) {
  if (plan.options.gate == "own") return;
  const Spec spec = Spec::parse(plan.options.gate, gate_infos(), "gate");
  plan.options.gate = "own";
  const std::string rule = plan.rule_spec.name();
  const bool in_rounds = make_gate(spec)->in_rounds();
  if (plan.rule->needs_rounds() && !in_rounds)
    return leave_out(plan, unfit,
                     fmt::format("--gate {}: {} takes a step at the end of a round, which this gate does not "
                                 "have; use bsp, or leave out --gate",
                                 spec.str(), rule));
  if (plan.rule_spec.has("backup") && plan.rule_spec.given("backup"))
    return leave_out(plan, unfit,
                     fmt::format("--gate {}: {} has a gate with backup workers; leave out one of the two", spec.str(),
                                 plan.rule_spec.str()));
  plan.options.gate = spec.str();
  plan.gate_spec = spec;
}

// The table of which rule goes with which codec, in docs/codecs.md.
void settle_codecs(Plan& plan, Unfit unfit) {
  if (!plan.rule->needs_exact_reply() || plan.codec_down_spec.name() == "none") return;
  leave_out(plan, unfit,
            fmt::format("--codec-down {}: {} works with what it sent, which must arrive as it is; use none",
                        plan.codec_down_spec.str(), plan.rule_spec.name()));
  plan.codec_down_spec = Spec::parse("none", codec_infos(), "codec");
}

void settle_hogwild(Plan& plan, Unfit unfit) {
  if (!plan.options.hogwild) return;
  const auto not_here = [&](const std::string& reason) {
    plan.options.hogwild = false;
    leave_out(plan, unfit, "--hogwild: " + reason);
  };
  if (plan.rule_spec.name() != "asgd")
    return not_here(fmt::format("it is asgd without locks, not {}", plan.rule_spec.name()));
  if (plan.gate_spec && make_gate(*plan.gate_spec)->waits())
    return not_here(fmt::format("nobody waits in it; leave out --gate {}", plan.options.gate));
  if (plan.codec_up_spec.name() != "none" || plan.codec_down_spec.name() != "none")
    return not_here("its workers add to theta in memory, so nothing is encoded; leave out --codec-up and --codec-down");
  if (plan.options.shards > 1) not_here("it has no locks, so --shards have no use");
}

// As Spec::str(), but without the momentum, which has a column of its own in every table.
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

void check_threads(const char* option, int64_t callers, int threads_per_worker) {
  require(callers * threads_per_worker <= kMostThreads,
          "{} {} with --threads-per-worker {}: {} threads are more than the {} that a run may start: use fewer", option,
          callers, threads_per_worker, callers * threads_per_worker, kMostThreads);
}

Plan make_plan(RunOptions options, Unfit unfit) {
  Spec rule_spec = Spec::parse(options.rule, rule_infos(), "rule");
  Spec model_spec = Spec::parse(options.model, model_infos(), "model");
  Spec codec_up_spec = Spec::parse(options.codec_up, codec_infos(), "codec");
  Spec codec_down_spec = Spec::parse(options.codec_down, codec_infos(), "codec");
  require(!options.drop_at.empty() || options.drop_factor == RunOptions{}.drop_factor,
          "--drop-factor {}: there is no --drop-at at which it would apply", options.drop_factor);
  Plan plan{std::move(options),
            std::move(rule_spec),
            std::move(model_spec),
            std::move(codec_up_spec),
            std::move(codec_down_spec),
            nullptr,
            {},
            {}};
  settle_recipe(plan);
  settle_momentum(plan, unfit);
  plan.rule = make_rule(plan.rule_spec);
  settle_engine(plan, unfit);
  settle_gate(plan, unfit);
  settle_codecs(plan, unfit);
  settle_hogwild(plan, unfit);
  if (plan.rule->sequential() && plan.options.workers > 1) {
    plan.notes.push_back(
        fmt::format("{} is sequential: it runs with 1 worker, not {}", plan.rule_spec.name(), plan.options.workers));
    plan.options.workers = 1;
  }
  const bool on_threads = plan.options.engine == "threads";
  check_threads(on_threads ? "--workers" : "--pool-threads",
                on_threads ? plan.options.workers : std::max(plan.options.pool_threads, 1),
                plan.options.threads_per_worker);
  (plan.gate_spec ? make_gate(*plan.gate_spec) : plan.rule->gate())->check(plan.options.workers);
  if (!plan.options.learning_rate) plan.options.learning_rate = 0.05 * (1 - *plan.options.momentum);
  plan.options.rule = name_without_momentum(plan.rule_spec);
  plan.options.model = plan.model_spec.str();
  plan.options.codec_up = plan.codec_up_spec.str();
  plan.options.codec_down = plan.codec_down_spec.str();
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
    Plan plan = make_plan(std::move(options), Unfit::leave_out);
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
