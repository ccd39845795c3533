#include "dist/launch/commands.h"
#include "dist/launch/comparison.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "framework/core/error.h"

namespace tg {
namespace {

// Fails before the first run rather than in the middle of the night.
void check_all(const std::vector<Plan>& plans, LoadedData& data) {
  for (const Plan& plan : plans) {
    const ClassificationTask task = make_task(plan, data.get(plan.options));
    make_job(plan, task);
  }
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
    results.push_back(run(plan, make_job(plan, task), RunFolder(folder.file(folder_of_run(number, plan))),
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
