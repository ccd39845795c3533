#include "dist/launch/command_line.h"

#include <new>

#include "dist/launch/command_list.h"
#include "dist/launch/commands.h"
#include "dist/launch/version.h"
#include "framework/core/error.h"
#include "framework/core/spec.h"

namespace tg {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  tardygrad info\n"
    "  tardygrad train --rule dc-asgd-a --workers 8 --model lenet --epochs 2\n"
    "  tardygrad compare --rule asgd dc-asgd-a:lambda=1 --workers 4 16 --seed 1 2 3\n";

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
  CommandList commands;
  add_run_commands(app, commands);
  add_question_commands(app, commands);
  add_theory_commands(app, commands);
  add_machine_commands(app, commands);
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
  return commands.run(Words(argv, argv + argc));
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
