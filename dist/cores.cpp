#include "dist/cores.h"

#include <omp.h>
#include <sched.h>

namespace tg {

std::vector<int> usable_cores() {
  std::vector<int> cores;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;  // more cores than a cpu_set_t holds
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(static_cast<size_t>(core), &mask)) cores.push_back(core);
  return cores;
}

void stay_on(const std::vector<int>& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(static_cast<size_t>(core), &mask);
  sched_setaffinity(0, sizeof mask, &mask);
}

StayOn::StayOn(const std::vector<int>& cores) {
  if (cores.empty()) return;
  before_ = usable_cores();
  stay_on(cores);
}

StayOn::~StayOn() {
  if (!before_.empty()) stay_on(before_);
}

OmpThreads::OmpThreads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }

OmpThreads::~OmpThreads() { omp_set_num_threads(before_); }

}  // namespace tg
