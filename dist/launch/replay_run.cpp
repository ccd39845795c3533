#include <nlohmann/json.hpp>

#include "dist/launch/commands.h"
#include "dist/launch/counterfactual.h"
#include "dist/launch/parse.h"
#include "dist/launch/recorder.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"

namespace tg {
namespace {

constexpr int64_t kMostThreads = 1024;

int report_same(const Replayed& replayed, const RecordedRun& recorded, const Interrupt& interrupt) {
  const std::size_t updates = replayed.history.updates.size(), shards = recorded.logs.size();
  if (!replayed.difference.empty()) {
    say(replayed.difference + "\n" + changes_since(recorded.folder));
    return kExitError;
  }
  if (replayed.whole) {
    say(fmt::format("the same: {} updates on {} shard{}, every loss and, bit for bit, the parameters\n", updates,
                    shards, shards == 1 ? "" : "s"));
    return 0;
  }
  say(interrupt.signal() != 0
          ? fmt::format("stopped: {} updates had the same losses\n", updates)
          : fmt::format(
                "the same as far as the events go: {} updates, every loss; the run was killed before its end, or "
                "is still going on\n",
                updates));
  return interrupt.exit_code();
}

// "dana-slim, up qsgd-4bit"
std::string what_runs(const Plan& plan) {
  std::string text = plan.options.rule;
  if (plan.options.codec_up != "none") text += ", up " + plan.options.codec_up;
  if (plan.options.codec_down != "none") text += ", down " + plan.options.codec_down;
  return text;
}

int report_other(const Replayed& replayed, const Plan& plan, const RecordedRun& recorded, const Interrupt& interrupt) {
  const History& history = replayed.history;
  if (history.status == History::Status::diverged) {
    say(fmt::format("diverged {}; a run with a lower --lr may do for {}\n", history.message, plan.options.rule));
    return kExitDiverged;
  }
  const Summary summary = summarise(history);
  say(fmt::format("{}: {} instead of {}, on the same {} arrivals", name_of(history.status), what_runs(plan),
                  what_runs(recorded.plan), history.updates.size()));
  if (!history.evaluations.empty())
    say(fmt::format(": test error {:.2f} %, train loss {:.4f}", history.evaluations.back().test_error_percent,
                    history.evaluations.back().train_loss));
  say(fmt::format(", mean lag {:.2f}, mean gap {:.3g}\n", summary.mean_lag, summary.mean_gap));
  return interrupt.exit_code();
}

}  // namespace

int replay_run(const ReplayRunOptions& options, const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // before the first thread
  require(!options.run.empty(), "replay: which run? `tardygrad replay runs/NAME`");
  const int pool_threads =
      options.pool_threads.empty()
          ? 0
          : static_cast<int>(parse_integer("--pool-threads", options.pool_threads, 0, kMostThreads));
  const RecordedRun recorded = read_run(options.run, options.data_dir);
  check_threads("--pool-threads", pool_threads, recorded.plan.options.threads_per_worker);
  const auto given = [](const std::string& word) { return word.empty() ? std::nullopt : std::optional(word); };
  const Instead instead{given(options.rule), given(options.codec_up), given(options.codec_down)};
  const bool same = !instead.anything();
  const Plan plan = same ? recorded.plan : with(recorded.plan, instead);
  if (!options.out.empty()) RunFolder::check(options.out);
  LoadedData data;
  const ClassificationTask task = make_task(recorded.plan, data.get(recorded.plan.options));
  check_logs(recorded, task.layout());
  const Job job = replay_job(recorded, plan, task);
  if (interrupt.signal() != 0) return interrupt.exit_code();

  say(fmt::format("{}: {}, {} gradients, recorded by --engine {}\n", recorded.folder.string(), describe(recorded.plan),
                  job.gradients, recorded.plan.options.engine));
  Replayed replayed;
  const auto engine = [&](Observer& observer) {
    replayed = replay_recorded(recorded, plan, job, pool_threads, observer);
    return replayed.history;
  };
  if (options.out.empty()) {
    Progress progress("", job.gradients, task.batches_per_epoch());
    Listener listener(progress, interrupt);
    engine(listener);
  } else {
    const RunFolder folder(options.out);
    record_run(plan, job, folder, {.command_line = command_line, .config = origin_of(recorded), .engine = "replay"},
               engine, "", interrupt);
    say(fmt::format("results: {}\n", folder.path().string()));
  }
  return same ? report_same(replayed, recorded, interrupt) : report_other(replayed, plan, recorded, interrupt);
}

}  // namespace tg
