#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace tg {

// While it lives, Ctrl-C and its like (SIGINT, SIGTERM, SIGHUP) only leave a note, for a run to end by itself. The
// second one ends the process at once. A closed pipe (SIGPIPE) does not end it either.
//
// The signals are blocked and taken by a thread that waits for them, and there is no handler, because a handler must
// never run on a thread that computes: oneDNN's product (2.6.3) lets the stack pointer point to the start of a buffer
// on the heap, and what the kernel pushes for a handler then overwrites the heap below. Threads inherit what is
// blocked, so make this before anything that starts threads. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // The signal that came, or 0.
  int signal() const { return noted_; }
  // The exit status that tells a shell so: 128 + signal (130 for Ctrl-C), or 0.
  int exit_code() const { return signal() == 0 ? 0 : 128 + signal(); }

 private:
  void watch();

  sigset_t ending_{}, mask_before_{};
  std::atomic<int> noted_{0};
  std::atomic<bool> over_{false};
  std::thread watcher_;
};

}  // namespace tg
