// The command line of train, compare and replay.

#include <map>
#include <set>

#include "dist/launch/command_list.h"
#include "dist/launch/commands.h"
#include "framework/core/error.h"

namespace tg {
namespace {

constexpr int kMostValues = 1000;  // after one flag of `compare`

constexpr const char* kTrainExamples =
    "Examples:\n"
    "  tardygrad train\n"
    "  tardygrad train --rule dana-zero --workers 16 --lr 0.005 --warmup 1 --epochs 8 --drop-at 6\n"
    "  tardygrad train --rule dc-asgd-a:lambda=1 --workers 8 --model lenet --epochs 0.5 --out runs/first\n\n"
    "The run's folder: config.json, metrics.csv (a line per evaluation), events.bin, summary.csv, workers.csv and\n"
    "pictures (loss, error, lag, gap as .svg). No run overwrites another. With --snapshot-every, one that was stopped\n"
    "or killed can go on: tardygrad train --resume runs/first; elsewhere --data-dir, --cores or --pool-threads may be\n"
    "given with it.\n";

constexpr const char* kReplayExamples =
    "Examples:\n"
    "  tardygrad train --engine threads --workers 4 --rule dana-zero --out runs/a\n"
    "  tardygrad replay runs/a\n"
    "  tardygrad replay runs/a --rule asgd --out runs/b\n\n"
    "Takes the messages in the order of the run's events. Exit status: 0 if every loss and the final parameters are\n"
    "the run's, bit for bit; 1 if not, naming the first update that differs. With --rule, the same arrivals, batches,\n"
    "learning rates and initial parameters are given to another rule; exit status 2 if it diverges.\n";

constexpr const char* kCompareExamples =
    "Examples:\n"
    "  tardygrad compare --rule sgd asgd ssgd dc-asgd-a --workers 1 8 --lr 0.05\n"
    "  tardygrad compare --rule multi-asgd dana-zero --workers 16 --lr 0.01 --warmup 1 --epochs 4 --seed 1 2 3\n\n"
    "Every combination of the values runs once, each in a folder of its own below --out, which gets summary.csv with\n"
    "a row per run and error.svg, loss.svg and gap.svg over all. A run that diverges does not end the others.\n\n"
    "  tardygrad compare --paired runs/a runs/b runs/c --rules asgd,dc-asgd-a:lambda=1\n\n"
    "Recorded runs that differ in their seeds: each rule on the arrivals, batches, rates and initial parameters of "
    "each,\n"
    "and how it differs there from the recorded rule, with an interval; paired.csv has the same numbers. Only --out,\n"
    "--data-dir and --pool-threads go with it.\n";

// Calls take(option, text) for each flag that was typed, which may have one value.
template <class Take>
void each_value(const RunFlags& flags, const Take& take) {
  for (std::size_t i = 0; i < flags.values.size(); ++i) {
    const Words& values = flags.values[i];
    const RunOption& option = run_option_list()[i];
    require(values.size() <= 1, "{} has {} values; for several runs there is `tardygrad compare`", option.flag,
            values.size());
    if (!values.empty()) take(option, values.front());
  }
}

// A run may go on where its data or the cores are others; all else is as it was.
int resume_with(const RunFlags& flags, const std::string& folder, const CLI::App& command) {
  const std::set<std::string> allowed{"--resume", "--data-dir", "--cores", "--pool-threads"};
  for (const CLI::Option* option : command.get_options())
    require(option->count() == 0 || allowed.contains(option->get_name()),
            "train: --resume takes everything from the run's config.json: leave out {}", option->get_name());
  std::map<std::string, std::string> instead;
  each_value(flags, [&](const RunOption& option, const std::string& text) { instead[option.name] = text; });
  return resume(folder, instead);
}

void add_train(CLI::App& app, CommandList& commands) {
  const auto flags = std::make_shared<RunFlags>();
  const auto resumed = std::make_shared<std::string>();
  CLI::App* train_command =
      commands.add(app, "train", "one run", [flags, resumed](const CLI::App& command, const Words& typed) {
        if (command.count("--resume") != 0) return resume_with(*flags, *resumed, command);
        return train(single_values(*flags), flags->out, typed);
      });
  add_run_flags(*train_command, *flags, false);
  train_command->add_option("--resume", *resumed, "go on with the run in this folder, from its last snapshot")
      ->type_name("DIR")
      ->check(kNotEmpty);
  train_command->footer(std::string(kTrainExamples) + "\n" + kExitCodes);
}

// With --paired, the recorded runs say everything else.
PairedOptions paired_options(const RunFlags& flags, PairedOptions options) {
  require(!options.rules.empty(), "compare --paired: which rules? --rules RULE,...");
  RunOptions given;
  for (std::size_t i = 0; i < flags.values.size(); ++i) {
    const Words& values = flags.values[i];
    const RunOption& option = run_option_list()[i];
    if (values.empty()) continue;
    require(option.name == "data_dir" || option.name == "pool_threads",
            "compare --paired: all but --rules comes from the recorded runs: leave out {}", option.flag);
    require(values.size() == 1, "compare --paired: {} has {} values", option.flag, values.size());
    option.set(given, values.front());
  }
  options.out = flags.out;
  options.data_dir = given.data_dir;
  options.pool_threads = given.pool_threads;
  return options;
}

void add_compare(CLI::App& app, CommandList& commands) {
  const auto flags = std::make_shared<RunFlags>();
  const auto paired = std::make_shared<PairedOptions>();
  CLI::App* command =
      commands.add(app, "compare", "a run for every combination of the options' values; or rules on recorded arrivals",
                   [flags, paired](const CLI::App&, const Words& typed) {
                     if (!paired->runs.empty()) return compare_paired(paired_options(*flags, *paired), typed);
                     require(paired->rules.empty(), "compare: --rules goes with --paired; without it, use --rule");
                     return compare(flags->values, flags->out, typed);
                   });
  add_run_flags(*command, *flags, true);
  command->add_option("--paired", paired->runs, "recorded runs, on whose arrivals --rules run")
      ->type_name("DIR ...")
      ->expected(1, kMostValues);
  command->add_option("--rules", paired->rules, "with --paired: other rules")
      ->type_name("RULE,...")
      ->expected(1, kMostValues);
  command->footer(kCompareExamples);
}

void add_replay(CLI::App& app, CommandList& commands) {
  const auto options = std::make_shared<ReplayRunOptions>();
  CLI::App* command =
      commands.add(app, "replay", "a recorded run once more, or another rule on its arrivals",
                   [options](const CLI::App&, const Words& typed) { return replay_run(*options, typed); });
  command->add_option("run", options->run, "the run's folder")->type_name("DIR");
  command->add_option("--rule", options->rule, "another rule (the run's own)")->type_name("RULE")->check(kNotEmpty);
  command->add_option("--codec-up", options->codec_up, "another codec for messages (the run's own)")
      ->type_name("CODEC")
      ->check(kNotEmpty);
  command->add_option("--codec-down", options->codec_down, "likewise, for replies")
      ->type_name("CODEC")
      ->check(kNotEmpty);
  command->add_option("--out", options->out, "the results' folder, new or empty (none)")
      ->type_name("DIR")
      ->check(kNotEmpty);
  command->add_option("--data-dir", options->data_dir, "as for train (the run's)")->type_name("DIR")->check(kNotEmpty);
  command->add_option("--pool-threads", options->pool_threads, "as for train (0)")->type_name("N")->check(kNotEmpty);
  command->footer(kReplayExamples);
}

}  // namespace

void add_run_flags(CLI::App& command, RunFlags& flags, bool lists) {
  for (std::size_t i = 0; i < flags.values.size(); ++i) {
    const RunOption& option = run_option_list()[i];
    CLI::Option* added = command.add_option(option.flag, flags.values[i], option.help);
    const bool is_switch = option.values.empty();
    added->type_name((is_switch ? "[true|false]" : option.values) + (lists ? " ..." : ""));
    added->expected(is_switch ? 0 : 1, lists ? kMostValues : 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  command.add_option("--out", flags.out, "the results' folder, new or empty (a new one below runs/)")
      ->type_name("DIR")
      ->check(kNotEmpty);
}

RunOptions single_values(const RunFlags& flags, RunOptions options) {
  each_value(flags, [&](const RunOption& option, const std::string& text) { option.set(options, text); });
  return options;
}

void add_run_commands(CLI::App& app, CommandList& commands) {
  add_train(app, commands);
  add_compare(app, commands);
  add_replay(app, commands);
}

}  // namespace tg
