#include "dist/launch/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>

namespace tg {
namespace {

constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP};

std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not lock");

void note(int signal) { noted = signal; }

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
  noted = 0;
  // SA_RESETHAND: the second one finds the system's own handler.
  for (const int signal : kEnding) handle(signal, note, static_cast<int>(SA_RESETHAND) | SA_RESTART);
  handle(SIGPIPE, SIG_IGN, 0);
}

Interrupt::~Interrupt() {
  for (const int signal : kEnding) handle(signal, SIG_DFL, 0);
  handle(SIGPIPE, SIG_DFL, 0);
}

int Interrupt::signal() const { return noted; }

}  // namespace tg
