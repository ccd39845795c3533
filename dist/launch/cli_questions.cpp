// The command line of explain and trace, which look at a recorded run.

#include <tuple>

#include "dist/launch/command_list.h"
#include "dist/launch/commands.h"
#include "dist/launch/parse.h"
#include "framework/core/error.h"

namespace tg {
namespace {

constexpr int64_t kMostTraced = 20'000;  // updates on one page
constexpr int64_t kMostUpdates = int64_t{1} << 40;

constexpr const char* kExplainExamples =
    "Examples:\n"
    "  tardygrad explain runs/first --update 412\n"
    "  tardygrad explain runs/first --update 51 --worker 3 --parameter conv1.weight --json\n\n"
    "Replays the run up to that update and shows the terms of the rule's formula, under the names of its file in\n"
    "optim/: of each the 2-norm and the five largest coordinates.\n";

constexpr const char* kTraceExamples =
    "Examples:\n"
    "  tardygrad trace runs/first\n"
    "  tardygrad trace runs/first --updates 1000..1199\n\n"
    "Replays the run up to the last of these updates, and writes trace.svg and trace.html, a page that steps through\n"
    "the updates, to the run's folder.\n";

// The words after explain or trace.
struct Question {
  std::string run, data_dir, update, worker, parameter, updates;
  bool json = false;
};

void add_run(CLI::App& command, Question& question) {
  command.add_option("run", question.run, "the run's folder")->type_name("DIR");
  command.add_option("--data-dir", question.data_dir, "where the data set's files are (as for the run)")
      ->type_name("DIR")
      ->check(kNotEmpty);
}

void check_run(const Question& question, const CLI::App& command) {
  require(!question.run.empty(), "{0}: which run? `tardygrad {0} runs/NAME`", command.get_name());
}

int ask_explain(const Question& question, const CLI::App& command) {
  check_run(question, command);
  require(command.count("--update") != 0, "explain: which update? --update N");
  ExplainOptions options{.run = question.run, .data_dir = question.data_dir};
  options.update = parse_integer("--update", question.update, 0, kMostUpdates);
  if (command.count("--worker") != 0)
    options.worker = static_cast<WorkerId>(parse_integer("--worker", question.worker, 0, 1 << 16));
  options.parameter = question.parameter;
  options.json = question.json;
  return explain(options);
}

int ask_trace(const Question& question, const CLI::App& command) {
  check_run(question, command);
  TraceOptions options{.run = question.run, .data_dir = question.data_dir};
  if (command.count("--updates") != 0)
    std::tie(options.first, options.last) = parse_range("--updates", question.updates, kMostTraced);
  return trace(options);
}

}  // namespace

void add_question_commands(CLI::App& app, CommandList& commands) {
  const auto question = std::make_shared<Question>();
  CLI::App* explain_command =
      commands.add(app, "explain", "the terms of one update of a run",
                   [question](const CLI::App& command, const Words&) { return ask_explain(*question, command); });
  add_run(*explain_command, *question);
  explain_command->add_option("--update", question->update, "which, counted from 0")->type_name("N");
  explain_command->add_option("--worker", question->worker, "count this worker's updates only")->type_name("I");
  explain_command->add_option("--parameter", question->parameter, "show this tensor alone")
      ->type_name("NAME")
      ->check(kNotEmpty);
  explain_command->add_flag("--json", question->json, "as JSON");
  explain_command->footer(kExplainExamples);

  CLI::App* trace_command =
      commands.add(app, "trace", "who worked on what when in a run: a page and a picture",
                   [question](const CLI::App& command, const Words&) { return ask_trace(*question, command); });
  add_run(*trace_command, *question);
  trace_command->add_option("--updates", question->updates, "the first and the last (0..399)")->type_name("A..B");
  trace_command->footer(kTraceExamples);
}

}  // namespace tg
