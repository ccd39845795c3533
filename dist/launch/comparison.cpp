#include "dist/launch/comparison.h"

#include <map>

#include "dist/launch/pictures.h"

namespace tg {
namespace {

// A curve's name: the rule, and those options in which the plans differ.
std::string curve_name(const Plan& plan, const std::vector<Plan>& plans) {
  std::string name;
  for (const RunOption* option : telling_options(plans)) {
    const std::string value = option->get(plan.options);
    if (option->name == "rule") {
      name = value + name;
    } else {
      name += fmt::format(", {} {}", option->name, value);
    }
  }
  return name;
}

}  // namespace

std::string folder_of_run(std::size_t number, const Plan& plan) {
  return file_name_of(
      fmt::format("{:03}-{}-{}w-seed{}", number, plan.options.rule, plan.options.workers, plan.options.seed));
}

std::string draw_all_runs(const RunFolder& folder, const std::vector<Plan>& plans,
                          const std::vector<RunResult>& results) {
  std::vector<ComparedRuns> compared;
  std::map<std::string, std::size_t> place;  // of a configuration in `compared`
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto [at, is_new] = place.emplace(identity(plans[i], false), compared.size());
    if (is_new) compared.push_back({curve_name(plans[i], plans), {}, results[i].gap});
    compared[at->second].runs.push_back(results[i].evaluations);
  }
  return draw_comparison(folder.path(), compared);
}

}  // namespace tg
