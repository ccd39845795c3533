#pragma once
// Which cores a thread runs on, and how many threads OpenMP takes for its loops.
//
// A new thread may run on the cores of the thread that starts it, and the same holds for the threads that OpenMP starts
// for a worker. The environment variable OMP_PROC_BIND must stay unset: with it, every thread that the program starts
// is confined to the same single core.

#include <vector>

namespace tg {

// The numbers of the cores that the calling thread may run on, in increasing order. Empty if the system does not say.
std::vector<int> usable_cores();

// Confines the calling thread to `cores`. If the system refuses, nothing happens: the thread is then at worst slower.
void stay_on(const std::vector<int>& cores);

// While this object lives, the calling thread and the threads it starts stay on `cores`. If `cores` is empty, nothing
// changes.
class StayOn {
 public:
  explicit StayOn(const std::vector<int>& cores);
  ~StayOn();
  StayOn(const StayOn&) = delete;
  StayOn& operator=(const StayOn&) = delete;

 private:
  std::vector<int> before_;
};

// While this object lives, parallel loops that the calling thread runs have `threads` OpenMP threads.
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
