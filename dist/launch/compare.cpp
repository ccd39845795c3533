#include <map>

#include "dist/launch/commands.h"
#include "dist/launch/pictures.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "framework/core/error.h"

namespace tg {
namespace {

// "007-dana-zero-16w-seed2": sorts in the order of the runs.
std::string folder_name(std::size_t number, const Plan& plan) {
  return file_name_of(
      fmt::format("{:03}-{}-{}w-seed{}", number, plan.options.rule, plan.options.workers, plan.options.seed));
}

// Fails before the first run rather than in the middle of the night.
void check_all(const std::vector<Plan>& plans, LoadedData& data) {
  for (const Plan& plan : plans) {
    const ClassificationTask task = make_task(plan, data.get(plan.options));
    make_job(plan, task);
  }
}

// Curves are named by what tells them apart.
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

}  // namespace

int compare(const std::vector<std::vector<std::string>>& values, const std::filesystem::path& out,
            const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // before the first thread
  const std::vector<Plan> plans = make_plans(values);
  if (!out.empty()) RunFolder::check(out);
  LoadedData data;
  check_all(plans, data);

  if (interrupt.signal() != 0) return interrupt.exit_code();

  const RunFolder folder(out.empty() ? fresh_run_path("runs", "compare") : out);
  say(fmt::format("{} run{}, results in {}\n", plans.size(), plans.size() == 1 ? "" : "s", folder.path().string()));
  std::vector<std::string> notes;
  for (const Plan& plan : plans) add_new(plan.notes, notes);
  for (const std::string& note : notes) say(fmt::format("note: {}\n", note));
  std::vector<RunResult> results;
  std::vector<SummaryRow> rows;
  for (const Plan& plan : plans) {
    const std::size_t number = results.size() + 1;
    const std::string label = fmt::format("[{}/{}] ", number, plans.size());
    say(fmt::format("{}{}, seed {}\n", label, describe(plan), plan.options.seed));
    const ClassificationTask task = make_task(plan, data.get(plan.options));
    results.push_back(run(plan, make_job(plan, task), RunFolder(folder.file(folder_name(number, plan))),
                          {.command_line = command_line}, label, interrupt));
    rows.push_back(results.back().row);
    write_summary(folder.file("summary.csv"), rows);
    if (!results.back().message.empty()) say(fmt::format("{}diverged {}\n", label, results.back().message));
    if (interrupt.signal() != 0) break;
  }
  const std::string trouble = draw_all_runs(folder, plans, results);
  if (!trouble.empty()) say(trouble + "\n");
  say("\n");
  say(summary_table(plans, rows));
  if (results.size() < plans.size())
    say(fmt::format("stopped: {} of {} runs were not begun\n", plans.size() - results.size(), plans.size()));
  say(fmt::format("results: {}\n", folder.path().string()));
  return interrupt.exit_code();
}

}  // namespace tg
