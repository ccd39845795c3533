#include "dist/launch/interrupt.h"

#include <pthread.h>

namespace tg {
namespace {

// nohup starts a program with SIGHUP ignored, and that must stay so.
bool is_ignored(int signal) {
  struct sigaction action = {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt() {
  sigemptyset(&ending_);
  sigaddset(&ending_, SIGINT);
  sigaddset(&ending_, SIGTERM);
  if (!is_ignored(SIGHUP)) sigaddset(&ending_, SIGHUP);
  // A shell without job control starts background programs with SIGINT ignored. A signal sent on purpose must still
  // work.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // writing beyond the file-size limit is then an error, which is handled
  ::pthread_sigmask(SIG_BLOCK, &ending_, &mask_before_);
  watcher_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  over_ = true;
  ::pthread_kill(watcher_.native_handle(), SIGTERM);  // wakes the watcher, and only it
  watcher_.join();
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
}

void Interrupt::watch() {
  while (true) {
    int signal = 0;
    if (sigwait(&ending_, &signal) != 0) continue;
    if (over_) return;
    if (noted_.exchange(signal) == 0) continue;
    std::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &ending_, nullptr);
    std::raise(signal);
  }
}

}  // namespace tg
