#include "datasets/registry.h"
#include "dist/launch/commands.h"
#include "dist/launch/recorded_run.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"

namespace tg {
namespace {

void introduce(const Plan& plan, const Task& task, const Splits& splits) {
  say(fmt::format("{}, {} parameters; {} ({}): {} samples, {} for the test\n", describe(plan), task.layout().count(),
                  plan.options.data, found_dataset(plan.options.data, plan.options.data_dir), splits.train.size(),
                  splits.test.size()));
  for (const std::string& note : plan.notes) say(fmt::format("note: {}\n", note));
}

// Returns the exit status.
int report(const RunResult& result, const RunFolder& folder, const Interrupt& interrupt) {
  const SummaryRow& row = result.row;
  if (result.message.empty()) {
    say(fmt::format("{}: test error {:.2f} %, train loss {:.4f}, mean lag {:.2f}, mean gap {:.3g}; {} in all\n",
                    row.status, row.test_error_percent, row.train_loss, row.mean_lag, row.mean_gap,
                    duration_text(row.seconds)));
  } else {
    say(fmt::format("{} {}; a lower --lr or fewer workers may help\n", row.status, result.message));
  }
  say(fmt::format("results: {}\n", folder.path().string()));
  if (row.status == name_of(History::Status::stopped) && !list_snapshots(folder.path()).empty())
    say(fmt::format("to go on: tardygrad train --resume {}\n", folder.path().string()));
  return row.status == name_of(History::Status::diverged) ? kExitDiverged : interrupt.exit_code();
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
  introduce(plan, task, splits);
  return report(run(plan, job, folder, {.command_line = command_line}, "", interrupt), folder, interrupt);
}

int resume(const std::filesystem::path& path, const OptionTexts& instead) {
  const Interrupt interrupt;  // before the first thread
  const RunFolder folder = RunFolder::open(path);
  const Plan plan = read_plan(path, instead);
  const std::string status = status_of_run(folder.file("summary.csv"));
  const bool diverged = status == name_of(History::Status::diverged);
  if (diverged || status == name_of(History::Status::finished)) {
    say(fmt::format("{}: the run has {}, there is nothing to do\n", path.string(), status));
    return diverged ? kExitDiverged : 0;
  }
  LoadedData data;
  const Splits& splits = data.get(plan.options);
  const ClassificationTask task = make_task(plan, splits);
  Job job = make_job(plan, task);
  const Resumption resumption = find_resumption(path, recorded_job(plan, task.layout()));
  job.resume = resumption.snapshot.get();

  if (interrupt.signal() != 0) return interrupt.exit_code();

  introduce(plan, task, splits);
  for (const std::string& skipped : resumption.skipped) say(fmt::format("note: not used: {}\n", skipped));
  if (const std::string changes = changes_since(path); !changes.empty())
    say("note: from here on it may have other last bits; " + changes);
  say(fmt::format("goes on after {} of {} gradients, from {}\n", resumption.gradients, job.gradients,
                  resumption.snapshot->name()));
  return report(run(plan, job, folder, {.resumption = &resumption}, "", interrupt), folder, interrupt);
}

}  // namespace tg
