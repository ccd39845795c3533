#pragma once
// The subcommands of the command line, each with what it does once the words after it are read. A file cli_*.cpp adds
// those of one kind.

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/launch/run_options.h"

namespace tg {

using Words = std::vector<std::string>;

class CommandList {
 public:
  // Below `parent`. `run` is called if the user typed this command, after everything is parsed; it is given the whole
  // command line and returns the exit status.
  CLI::App* add(CLI::App& parent, const char* name, const char* help,
                std::function<int(const CLI::App& command, const Words& typed)> run) {
    commands_.emplace_back(parent.add_subcommand(name, help), std::move(run));
    commands_.back().first->allow_extras();  // refused later, with a better message
    return commands_.back().first;
  }
  // The command that was typed; where commands are nested, the innermost.
  int run(const Words& typed) const {
    for (auto command = commands_.rbegin(); command != commands_.rend(); ++command)
      if (command->first->parsed()) return command->second(*command->first, typed);
    return 0;
  }

 private:
  std::vector<std::pair<CLI::App*, std::function<int(const CLI::App&, const Words&)>>> commands_;
};

// The words after each flag of run_option_list(), of one command.
struct RunFlags {
  std::vector<Words> values{std::vector<Words>(run_option_list().size())};
  std::string out;
};
// `lists`: a flag may have several values.
void add_run_flags(CLI::App& command, RunFlags& flags, bool lists);
// What was typed, on top of `options`. Throws Error where a flag has several values, or one that it does not take.
RunOptions single_values(const RunFlags& flags, RunOptions options = {});

// For a text that may be left out. A variable that the shell found unset would otherwise leave it out unseen.
inline const CLI::Validator kNotEmpty(
    [](const std::string& word) {
      return word.empty() ? std::string("expected a value, found the empty word ''; leave the option out instead") : "";
    },
    "");

inline constexpr const char* kExitCodes =
    "Exit status: 0; 1 after a mistake, with its reason on standard error; 2 if training diverged;\n"
    "128 + signal if it was interrupted (130 for Ctrl-C; what was done is kept).\n";

void add_run_commands(CLI::App& app, CommandList& commands);       // train, compare, replay
void add_question_commands(CLI::App& app, CommandList& commands);  // explain, trace: they look at a recorded run
void add_theory_commands(CLI::App& app, CommandList& commands);    // stability, probe
void add_machine_commands(CLI::App& app, CommandList& commands);   // info, bench

}  // namespace tg
