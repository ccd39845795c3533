#pragma once
// Plan: the options of a run with every default filled in, and everything checked that can be checked before its data
// is loaded.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/launch/run_options.h"
#include "framework/core/spec.h"
#include "optim/rule.h"

namespace tg {

struct Plan {
  // Workers, learning rate and momentum are those that the run really uses; `rule` does not repeat the momentum.
  RunOptions options;
  Spec rule_spec, model_spec, codec_up_spec, codec_down_spec;
  std::shared_ptr<const Rule> rule;
  std::optional<Spec> gate_spec;   // none: the rule's own gate
  std::vector<std::string> notes;  // sentences for the user: where the run differs from what was typed
};

// What to do about an option that has no meaning for this run, such as --momentum for a rule without momentum, or
// --shards in the simulator. A single run refuses it; a comparison leaves it out, since other runs may need it.
enum class Unfit { refuse, leave_out };

// Throws Error, naming the option, if such a run is not possible.
Plan make_plan(RunOptions options, Unfit unfit);

// Throws Error if `callers` threads, which `option` asked for, with so many OpenMP threads each are more than one run
// may start.
void check_threads(const char* option, int64_t callers, int threads_per_worker);

// Appends those of `notes` that `to` does not have yet.
void add_new(const std::vector<std::string>& notes, std::vector<std::string>& to);

// A plan for every combination. values[i] are the values of option run_option_list()[i]; if there are none, the default
// is used. Combinations that lead to the same run, such as two numbers of workers for a sequential rule, are planned
// once. Throws Error as make_plan() does, and for more than 10,000 combinations.
std::vector<Plan> make_plans(const std::vector<std::vector<std::string>>& values);

// A text that is equal for two plans if and only if they are the same run (apart from the seed, unless `with_seed`).
std::string identity(const Plan& plan, bool with_seed);

// "dana-zero with 16 workers on lenet"
std::string describe(const Plan& plan);

}  // namespace tg
