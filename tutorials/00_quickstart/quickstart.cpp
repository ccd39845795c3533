// The first lesson's program: what late gradients do to training, and what two papers do about it. README.md explains.

#include <CLI/CLI.hpp>
#include <limits>

#include "dist/launch/pictures.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "framework/core/error.h"

namespace tg {
namespace {

constexpr double kSgdErrorPercent = 11;  // lenet by one worker stays below

// Runs of several rules for the same number of samples. sgd has one worker, and so starts at the full rate: a warm-up
// begins at rate / workers.
struct Group {
  std::string name, title;
  RunOptions common;
  std::vector<std::string> rules;
};

std::vector<Group> lesson(bool smoke, uint64_t seed) {
  RunOptions momentum;
  momentum.model = "mlp";
  momentum.workers = 16;
  momentum.epochs = 4;
  momentum.batch = 128;
  momentum.learning_rate = 0.01;
  momentum.momentum = 0.9;
  momentum.warmup = 1;

  RunOptions delay;
  delay.model = "lenet";
  delay.workers = 8;  // sgd takes one
  delay.epochs = 3;
  delay.batch = 32;
  delay.learning_rate = 0.1;
  delay.warmup = 0.5;
  delay.drop_at = {2.25};

  for (RunOptions* options : {&momentum, &delay}) {
    options->seed = seed;
    options->evaluate_every = 0.5;
    options->exact_gap = true;
    if (!smoke) continue;
    options->data = "synthetic";
    options->epochs = options == &momentum ? 1 : 0.5;
    options->batch = 128;  // 32 gradients an epoch
  }
  return {{"momentum", "16 workers with momentum", momentum, {"multi-asgd", "dana-zero"}},
          {"delay", "1 worker, and 8 workers without momentum", delay, {"sgd", "asgd", "ssgd", "dc-asgd-a"}}};
}

// runs/quickstart, new: an earlier call's results are kept under another name.
RunFolder results_folder() {
  const std::filesystem::path path = std::filesystem::path("runs") / "quickstart";
  if (std::filesystem::exists(path)) {
    const std::filesystem::path aside = fresh_run_path("runs", "quickstart-before");
    std::filesystem::rename(path, aside);
    say(fmt::format("the earlier results are now in {}\n", aside.string()));
  }
  return RunFolder(path);
}

std::string results_table(const std::vector<SummaryRow>& rows) {
  std::vector<std::vector<std::string>> lines;
  for (const SummaryRow& row : rows) {
    lines.push_back({row.model, row.rule, std::to_string(row.workers), fmt::format("{:.2f}", row.test_error_percent),
                     fmt::format("{:.4f}", row.train_loss), fmt::format("{:.2f}", row.mean_lag),
                     std::to_string(row.max_lag), fmt::format("{:.6f}", row.mean_gap),
                     fmt::format("{:.0f}", row.virtual_time), fmt::format("{:.1f}", row.seconds), row.status});
  }
  return table({"model", "rule", "workers", "test error %", "train loss", "mean lag", "max lag", "mean gap",
                "virtual time", "seconds", "status"},
               lines, 2);
}

// Infinite for a run that diverged.
double error_of(const std::string& rule, const std::vector<SummaryRow>& rows) {
  for (const SummaryRow& row : rows)
    if (row.rule == rule && row.status == "finished") return row.test_error_percent;
  return std::numeric_limits<double>::infinity();
}

bool claim(const std::string& text, bool holds) {
  say(fmt::format("{}: {}\n", text, holds ? "yes" : "NO"));
  return holds;
}

std::string pictures_of(const std::filesystem::path& group) {
  return fmt::format("pictures: {}/error.svg, loss.svg, gap.svg\n", group.string());
}

int quickstart(bool smoke, uint64_t seed, const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // Ctrl-C ends the lesson and keeps what is done; made before the first thread
  LoadedData data;
  const std::vector<Group> groups = lesson(smoke, seed);
  for (const Group& group : groups) data.get(group.common);  // what is missing is missed before anything is moved
  const RunFolder folder = results_folder();
  std::vector<SummaryRow> rows;
  std::string pictures;
  for (const Group& group : groups) {
    say(fmt::format("\n{}\n", group.title));
    const RunFolder group_folder(folder.file(group.name));
    std::vector<ComparedRuns> compared;
    for (const std::string& rule : group.rules) {
      RunOptions options = group.common;
      options.rule = rule;
      const Plan plan = make_plan(options, Unfit::leave_out);                   // the options, checked
      const ClassificationTask task = make_task(plan, data.get(plan.options));  // what is trained
      const Job job = make_job(plan, task);                                     // task, rule, schedule, workers, seed
      const RunResult result =
          run(plan, job, RunFolder(group_folder.file(rule)), {.command_line = command_line}, rule + ": ", interrupt);
      if (!result.message.empty()) say(fmt::format("{}: diverged at {}\n", rule, result.message));
      rows.push_back(result.row);
      write_summary(folder.file("summary.csv"), rows);
      compared.push_back({rule, {result.evaluations}, result.gap});
      if (interrupt.signal() != 0) return interrupt.exit_code();
    }
    const std::string trouble = draw_comparison(group_folder.path(), compared);
    const std::string drawn = trouble.empty() ? pictures_of(group_folder.path()) : trouble + "\n";
    say(drawn);
    pictures += drawn;
  }
  say(fmt::format("\n{}\nnumbers:  {}\n{}\n", results_table(rows), folder.file("summary.csv").string(), pictures));
  if (smoke) return 0;  // too short to claim anything

  const bool learned = claim(fmt::format("sgd with one worker errs on less than {} %", kSgdErrorPercent),
                             error_of("sgd", rows) < kSgdErrorPercent);
  const bool looked_ahead =
      claim("dana-zero errs less than multi-asgd", error_of("dana-zero", rows) < error_of("multi-asgd", rows));
  return learned && looked_ahead ? 0 : 1;
}

}  // namespace
}  // namespace tg

int main(int argc, char** argv) {
  CLI::App app("The first lesson: trains on Fashion-MNIST with late gradients; results in runs/quickstart.");
  bool smoke = false;
  uint64_t seed = 1;
  app.add_flag("--smoke", smoke, "made data and a few gradients: does the program work?");
  app.add_option("--seed", seed, "of initial parameters, order of samples and clock (1)");
  CLI11_PARSE(app, argc, argv);
  try {
    return tg::quickstart(smoke, seed, {argv, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return 1;
  }
}
