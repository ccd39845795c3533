#pragma once
// Plan: a run as it is going to be, with everything checked that can be checked without its data.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/launch/run_options.h"
#include "framework/core/spec.h"
#include "optim/rule.h"

namespace tg {

struct Plan {
  RunOptions options;  // workers, learning rate and momentum as they will be; `rule` is without the momentum
  Spec rule_spec, model_spec;
  std::shared_ptr<const Rule> rule;
  std::optional<Spec> gate_spec;   // if it is not the rule's own
  std::vector<std::string> notes;  // what differs from what was typed, for the user
};

// What becomes of an option that has no meaning for the run: --momentum where the rule has none, --shards in the
// simulator.
enum class Unfit { refuse, leave_out };

// Throws Error for what cannot run.
Plan make_plan(RunOptions options, Unfit unfit);

// Appends the notes that are not there yet.
void add_new(const std::vector<std::string>& notes, std::vector<std::string>& to);

// Every combination of the values of each option, one entry of `values` per entry of run_option_list(); no values: the
// default. Combinations that come to the same run, as two numbers of workers do for a sequential rule, are planned
// once.
std::vector<Plan> make_plans(const std::vector<std::vector<std::string>>& values);

// The same for two plans exactly if they are the same run, apart from the seed if so asked.
std::string identity(const Plan& plan, bool with_seed);

// "dana-zero with 16 workers on lenet"
std::string describe(const Plan& plan);

}  // namespace tg
