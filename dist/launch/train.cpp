#include "datasets/registry.h"
#include "dist/launch/commands.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"

namespace tg {
namespace {

void report(const RunResult& result, const RunFolder& folder) {
  const SummaryRow& row = result.row;
  if (result.message.empty()) {
    say(fmt::format("{}: test error {:.2f} %, train loss {:.4f}, mean lag {:.2f}, mean gap {:.3g}; {} in all\n",
                    row.status, row.test_error_percent, row.train_loss, row.mean_lag, row.mean_gap,
                    duration_text(row.seconds)));
  } else {
    say(fmt::format("{} {}; a lower --lr or fewer workers may help\n", row.status, result.message));
  }
  say(fmt::format("results: {}\n", folder.path().string()));
}

}  // namespace

int train(const RunOptions& options, const std::filesystem::path& out, const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // before the first thread
  const Plan plan = make_plan(options, Unfit::refuse);
  if (!out.empty()) RunFolder::check(out);
  LoadedData data;
  const Splits& splits = data.get(plan.options);
  const ClassificationTask task = make_task(plan, splits);
  const Job job = make_job(plan, task);

  if (interrupt.signal() != 0) return interrupt.exit_code();

  const RunFolder folder(out.empty() ? fresh_run_path("runs", plan.options.rule) : out);
  say(fmt::format("{}, {} parameters; {} ({}): {} samples, {} for the test\n", describe(plan), task.layout().count(),
                  plan.options.data, found_dataset(plan.options.data, plan.options.data_dir), splits.train.size(),
                  splits.test.size()));
  for (const std::string& note : plan.notes) say(fmt::format("note: {}\n", note));
  const RunResult result = run(plan, job, folder, command_line, "", interrupt);
  report(result, folder);
  if (result.row.status == name_of(History::Status::diverged)) return kExitDiverged;
  return interrupt.exit_code();
}

}  // namespace tg
