#pragma once
// Interrupt: Ctrl-C ends a run cleanly.

#include <atomic>
#include <csignal>
#include <thread>

namespace tg {

// While this object lives, the first SIGINT (Ctrl-C), SIGTERM or SIGHUP is only remembered: the run asks for it and
// ends by itself. The second one ends the process at once. Writing to a closed pipe (SIGPIPE) does not end the process
// either.
//
// The signals are blocked on all threads, and one thread waits for them. There is no signal handler, because a handler
// must never run on a thread that computes: during a matrix product of oneDNN 2.6.3 the stack pointer may point to the
// start of a buffer on the heap, and the frame that the kernel pushes for a handler then overwrites the heap below it.
// Threads inherit which signals are blocked, so this must be made before anything that starts threads. There may be one
// such object at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // The signal that came, or 0.
  int signal() const { return noted_; }
  // The exit status by which a shell knows of it: 128 + signal (130 for Ctrl-C), or 0 if none came.
  int exit_code() const { return signal() == 0 ? 0 : 128 + signal(); }

 private:
  void watch();

  sigset_t ending_{}, mask_before_{};
  std::atomic<int> noted_{0};
  std::atomic<bool> over_{false};
  std::thread watcher_;
};

}  // namespace tg
