#pragma once

namespace tg {

// The `tardygrad` command. Returns the exit status: 0; 1 after a mistake, with its reason on standard error; 2 if
// training diverged; 128 + signal if it was interrupted (130 for Ctrl-C).
int run_command_line(int argc, const char* const* argv);

}  // namespace tg
