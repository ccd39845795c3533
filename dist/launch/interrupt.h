#pragma once

namespace tg {

// While it lives, Ctrl-C and its like (SIGINT, SIGTERM, SIGHUP) only leave a note, for a run to end by itself. The
// second one of a kind ends the process at once. A closed pipe (SIGPIPE) does not end it either. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // The signal that came, or 0.
  int signal() const;
  // The exit status that tells a shell so: 128 + signal (130 for Ctrl-C), or 0.
  int exit_code() const { return signal() == 0 ? 0 : 128 + signal(); }
};

}  // namespace tg
