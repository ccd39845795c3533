#include "dist/launch/command_line.h"

#include <CLI/CLI.hpp>
#include <new>
#include <tuple>

#include "dist/launch/commands.h"
#include "dist/launch/parse.h"
#include "dist/launch/version.h"
#include "framework/core/error.h"
#include "framework/core/spec.h"

namespace tg {
namespace {

using Words = std::vector<std::string>;

constexpr int kMostValues = 1000;        // after one flag of `compare`
constexpr int64_t kMostTraced = 20'000;  // updates on one page
constexpr int64_t kMostUpdates = int64_t{1} << 40;

constexpr const char* kExitCodes =
    "Exit status: 0; 1 after a mistake, with its reason on standard error; 2 if training diverged;\n"
    "128 + signal if it was interrupted (130 for Ctrl-C; what was done is kept).\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  tardygrad info\n"
    "  tardygrad train --rule dc-asgd-a --workers 8 --model lenet --epochs 2\n"
    "  tardygrad compare --rule asgd dc-asgd-a:lambda=1 --workers 4 16 --seed 1 2 3\n";

constexpr const char* kTrainExamples =
    "Examples:\n"
    "  tardygrad train\n"
    "  tardygrad train --rule dana-zero --workers 16 --lr 0.005 --warmup 1 --epochs 8 --drop-at 6\n"
    "  tardygrad train --rule dc-asgd-a:lambda=1 --workers 8 --model lenet --epochs 0.5 --out runs/first\n\n"
    "The run's folder: config.json, metrics.csv (a line per evaluation), events.bin, summary.csv, workers.csv and\n"
    "pictures (loss, error, lag, gap as .svg). No run overwrites another. With --snapshot-every, one that was stopped\n"
    "or killed can go on: tardygrad train --resume runs/first\n";

constexpr const char* kReplayExamples =
    "Examples:\n"
    "  tardygrad train --engine threads --workers 4 --rule dana-zero --out runs/a\n"
    "  tardygrad replay runs/a\n"
    "  tardygrad replay runs/a --rule asgd --out runs/b\n\n"
    "Takes the messages in the order of the run's events. Exit status: 0 if every loss and the final parameters are\n"
    "the run's, bit for bit; 1 if not, naming the first update that differs. With --rule, the same arrivals, batches,\n"
    "rates and initial parameters under another rule.\n";

constexpr const char* kCompareExamples =
    "Examples:\n"
    "  tardygrad compare --rule sgd asgd ssgd dc-asgd-a --workers 1 8 --lr 0.05\n"
    "  tardygrad compare --rule multi-asgd dana-zero --workers 16 --lr 0.01 --warmup 1 --epochs 4 --seed 1 2 3\n\n"
    "Every combination of the values runs once, each in a folder of its own below --out, which gets summary.csv with\n"
    "a row per run and error.svg, loss.svg and gap.svg over all. A run that diverges does not end the others.\n";

constexpr const char* kExplainExamples =
    "Examples:\n"
    "  tardygrad explain runs/first --update 412\n"
    "  tardygrad explain runs/first --update 51 --worker 3 --parameter conv1.weight --json\n\n"
    "The run is replayed up to that update. Shown are the terms of the rule's formula, as its file in optim/ has "
    "them,\n"
    "each with its 2-norm and its five largest coordinates.\n";

constexpr const char* kTraceExamples =
    "Examples:\n"
    "  tardygrad trace runs/first\n"
    "  tardygrad trace runs/first --updates 1000..1199\n\n"
    "The run is replayed up to the last of these updates. Its folder gets trace.html, a page that steps through them, "
    "and\n"
    "trace.svg.\n";

// One subcommand of those that take run_option_list(): the words after each flag.
struct RunFlags {
  std::vector<Words> values{std::vector<Words>(run_option_list().size())};
  std::string out;
};

void add_run_flags(CLI::App& command, RunFlags& flags, bool lists) {
  for (std::size_t i = 0; i < flags.values.size(); ++i) {
    const RunOption& option = run_option_list()[i];
    CLI::Option* added = command.add_option(option.flag, flags.values[i], option.help);
    const bool is_switch = option.values.empty();
    added->type_name((is_switch ? "[true|false]" : option.values) + (lists ? " ..." : ""));
    added->expected(is_switch ? 0 : 1, lists ? kMostValues : 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  command.add_option("--out", flags.out, "the results' folder, new or empty (a new one below runs/)")->type_name("DIR");
}

// The commands that look at a recorded run.
struct Questions {
  CLI::App *explain = nullptr, *trace = nullptr;
  std::string run, data_dir, update, worker, parameter, updates;
  bool json = false;
};

CLI::App* add_question(CLI::App& app, Questions& questions, const char* name, const char* help) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("run", questions.run, "the run's folder")->type_name("DIR");
  command->add_option("--data-dir", questions.data_dir, "where the data set's files are (as for the run)")
      ->type_name("DIR");
  return command;
}

void add_questions(CLI::App& app, Questions& questions) {
  questions.explain = add_question(app, questions, "explain", "the terms of one update of a run");
  questions.explain->add_option("--update", questions.update, "which, counted from 0")->type_name("N");
  questions.explain->add_option("--worker", questions.worker, "count this worker's updates only")->type_name("I");
  questions.explain->add_option("--parameter", questions.parameter, "show this tensor alone")->type_name("NAME");
  questions.explain->add_flag("--json", questions.json, "as JSON");
  questions.explain->footer(kExplainExamples);

  questions.trace = add_question(app, questions, "trace", "who worked on what when in a run: a page and a picture");
  questions.trace->add_option("--updates", questions.updates, "the first and the last (0..399)")->type_name("A..B");
  questions.trace->footer(kTraceExamples);
}

int answer(const Questions& questions) {
  const char* name = questions.explain->parsed() ? "explain" : "trace";
  require(!questions.run.empty(), "{0}: which run? `tardygrad {0} runs/NAME`", name);
  if (questions.trace->parsed()) {
    TraceOptions options{.run = questions.run, .data_dir = questions.data_dir};
    if (questions.trace->count("--updates") != 0)
      std::tie(options.first, options.last) = parse_range("--updates", questions.updates, kMostTraced);
    return trace(options);
  }
  require(questions.explain->count("--update") != 0, "explain: which update? --update N");
  ExplainOptions options{.run = questions.run, .data_dir = questions.data_dir};
  options.update = parse_integer("--update", questions.update, 0, kMostUpdates);
  if (questions.explain->count("--worker") != 0)
    options.worker = static_cast<WorkerId>(parse_integer("--worker", questions.worker, 0, 1 << 16));
  options.parameter = questions.parameter;
  options.json = questions.json;
  return explain(options);
}

Words flags_of(const CLI::App& command) {
  Words flags;
  for (const CLI::Option* option : command.get_options())
    if (!option->get_lnames().empty()) flags.push_back("--" + option->get_lnames().front());
  return flags;
}

// What CLI11 could not place is a misspelt flag or command, or a word too many.
void refuse_leftovers(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string name = "tardygrad";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  const Words left = app.remaining(true);
  if (left.empty()) return;
  const std::string& word = left.front();
  if (word.rfind("-", 0) == 0)
    fail("{}: there is no option '{}'{}", name, word,
         suggestion(word.substr(0, word.find('=')), flags_of(*command), "Its options: "));
  Words names;
  for (const CLI::App* sub : command->get_subcommands({})) names.push_back(sub->get_name());
  if (!names.empty()) fail("{}: there is no command '{}'{}", name, word, suggestion(word, names, "Commands: "));
  fail("{0}: '{1}' belongs to no option; `{0} --help` lists them", name, word);
}

int parse_and_run(int argc, const char* const* argv) {
  CLI::App app{"Asynchronous and communication-efficient training, to learn and to study.", "tardygrad"};
  app.set_version_flag("--version", std::string("tardygrad ") + TARDYGRAD_VERSION);
  app.footer(std::string(kExamples) + "\n" + kExitCodes);
  app.allow_extras();
  app.prefix_command(false);

  CLI::App* train_command = app.add_subcommand("train", "one run");
  RunFlags train_flags;
  add_run_flags(*train_command, train_flags, false);
  std::string resumed;
  train_command->add_option("--resume", resumed, "go on with the run in this folder, from its last snapshot")
      ->type_name("DIR");
  train_command->footer(std::string(kTrainExamples) + "\n" + kExitCodes);

  CLI::App* compare_command = app.add_subcommand("compare", "a run for every combination of the options' values");
  RunFlags compare_flags;
  add_run_flags(*compare_command, compare_flags, true);
  compare_command->footer(kCompareExamples);

  CLI::App* replay_command = app.add_subcommand("replay", "a recorded run once more, or another rule on its arrivals");
  ReplayRunOptions replay;
  replay_command->add_option("run", replay.run, "the run's folder")->type_name("DIR");
  replay_command->add_option("--rule", replay.rule, "another rule (the run's own)")->type_name("RULE");
  replay_command->add_option("--out", replay.out, "the results' folder, new or empty (none)")->type_name("DIR");
  replay_command->add_option("--data-dir", replay.data_dir, "as for train (the run's)")->type_name("DIR");
  replay_command->add_option("--pool-threads", replay.pool_threads, "as for train (0)")->type_name("N");
  replay_command->footer(kReplayExamples);

  Questions questions;
  add_questions(app, questions);

  CLI::App* info_command =
      app.add_subcommand("info", "versions, machine, data sets, models, rules, codecs; or a model");
  std::string data_dir;
  ModelInfoOptions of_model;
  bool info_as_json = false;
  info_command->add_option("--data-dir", data_dir, "as for train")->type_name("DIR");
  info_command->add_option("--model", of_model.model, "layers, FLOPs and memory of a model")->type_name("MODEL");
  info_command->add_option("--input", of_model.input, "its samples (what it was made for)")->type_name("HxWxC");
  info_command->add_option("--classes", of_model.classes, "its classes (likewise)")->type_name("N");
  info_command->add_option("--batch", of_model.batch, "samples (1)")->type_name("N");
  info_command->add_flag("--json", info_as_json, "as JSON");

  CLI::App* bench_command = app.add_subcommand("bench", "measurements of this machine");
  CLI::App* step_command = bench_command->add_subcommand("step", "median time of a training step on made data");
  BenchStepOptions bench;
  std::string batch, threads, seconds;
  step_command->add_option("--model", bench.model, "name or name:option=value,... (lenet)")->type_name("MODEL");
  step_command->add_option("--batch", batch, "samples (128 pictures or 32 sequences)")->type_name("N");
  step_command->add_option("--threads", threads, "threads (1)")->type_name("N");
  step_command->add_option("--seconds", seconds, "how long to measure (3)")->type_name("S");
  step_command->add_option("--device", bench.device, "cpu, or plain: the readable loops (cpu)")->type_name("DEVICE");
  step_command->add_flag("--trim", bench.trim, "give the pool's memory back to the system after each step");
  step_command->add_flag("--json", bench.json, "one line of JSON");

  CLI::App* server_command =
      bench_command->add_subcommand("server", "what a server's work costs, beside its bare loads and stores");
  BenchServerOptions server;
  std::string parameters;
  server_command->add_option("--rule", server.rule, "one rule (all)")->type_name("RULE");
  server_command->add_option("--parameters", parameters, "how many (25000000)")->type_name("N");
  server_command->add_option("--threads", threads, "threads (1)")->type_name("N");
  server_command->add_option("--seconds", seconds, "how long to measure each rule (1)")->type_name("S");
  server_command->add_flag("--json", server.json, "one line of JSON");

  for (CLI::App* command : {train_command, compare_command, replay_command, questions.explain, questions.trace,
                            info_command, bench_command, step_command, server_command})
    command->allow_extras();
  if (argc <= 1) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    fail("{}", error.what());
  }
  refuse_leftovers(app);

  const Words typed(argv, argv + argc);
  if (train_command->parsed()) {
    if (train_command->count("--resume") != 0) {
      for (const CLI::Option* option : train_command->get_options())
        require(option->count() == 0 || option->get_name() == "--resume",
                "train: --resume takes everything from the run's config.json: leave out {}", option->get_name());
      return resume(resumed);
    }
    RunOptions options;
    for (std::size_t i = 0; i < train_flags.values.size(); ++i) {
      const Words& values = train_flags.values[i];
      const RunOption& option = run_option_list()[i];
      require(values.size() <= 1, "{} has {} values; for several runs there is `tardygrad compare`", option.flag,
              values.size());
      for (const std::string& value : values) option.set(options, value);
    }
    return train(options, train_flags.out, typed);
  }
  if (compare_command->parsed()) return compare(compare_flags.values, compare_flags.out, typed);
  if (replay_command->parsed()) return replay_run(replay, typed);
  if (questions.explain->parsed() || questions.trace->parsed()) return answer(questions);
  if (info_command->parsed()) {
    for (const char* flag : {"--input", "--classes", "--batch"})
      require(info_command->count(flag) == 0 || info_command->count("--model") != 0,
              "info: {} is for a model; name it with --model", flag);
    if (info_command->count("--model") == 0) return info(data_dir, info_as_json);
    require(info_command->count("--data-dir") == 0, "info: --data-dir has no use for a model; leave it out");
    return model_info(of_model, info_as_json);
  }
  if (server_command->parsed()) {
    if (!parameters.empty()) server.parameters = parse_integer("--parameters", parameters, 1, int64_t{1} << 32);
    if (!threads.empty()) server.threads = static_cast<int>(parse_integer("--threads", threads, 1, 1024));
    if (!seconds.empty()) server.seconds = parse_number("--seconds", seconds, 0, 3600);
    return bench_server(server);
  }
  require(step_command->parsed(), "bench: what is to be measured? There are: server, step");
  if (!batch.empty()) bench.batch = parse_integer("--batch", batch, 1, 1 << 16);
  if (!threads.empty()) bench.threads = static_cast<int>(parse_integer("--threads", threads, 1, 1024));
  if (!seconds.empty()) bench.seconds = parse_number("--seconds", seconds, 0, 3600);
  return bench_step(bench);
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("tardygrad: out of memory\n", stderr);
  } catch (const std::exception& error) {
    const std::string message = error.what();  // an unknown option's starts with the command
    std::fprintf(stderr, "%s%s\n", message.rfind("tardygrad", 0) == 0 ? "" : "tardygrad: ", message.c_str());
  }
  return kExitError;
}

}  // namespace tg
