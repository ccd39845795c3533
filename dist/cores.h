#pragma once
// Which cores a thread runs on, and how many threads OpenMP takes for its loops.
//
// A thread inherits the cores and the environment of the one that starts it, OpenMP's threads those of their worker.
// OMP_PROC_BIND must stay unset: with it every thread that the program starts is confined to one and the same core.

#include <vector>

namespace tg {

// The cores that the calling thread may run on, in increasing order.
std::vector<int> usable_cores();

// Confines the calling thread to `cores`. Best effort: a thread that may not be tied is only slower.
void stay_on(const std::vector<int>& cores);

// While it lives, the calling thread, and what it starts, stay on `cores`; wherever they were if there are none.
class StayOn {
 public:
  explicit StayOn(const std::vector<int>& cores);
  ~StayOn();
  StayOn(const StayOn&) = delete;
  StayOn& operator=(const StayOn&) = delete;

 private:
  std::vector<int> before_;
};

// While it lives, the calling thread's loops have so many OpenMP threads.
class OmpThreads {
 public:
  explicit OmpThreads(int threads);
  ~OmpThreads();
  OmpThreads(const OmpThreads&) = delete;
  OmpThreads& operator=(const OmpThreads&) = delete;

 private:
  int before_;
};

}  // namespace tg
