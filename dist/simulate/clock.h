#pragma once
// The gamma clock of Ali et al. 2000 as the simulation of DANA (Hakimi et al. 2019) uses it: how long a worker needs
// for a gradient.

#include <cstdint>
#include <vector>

#include "framework/core/random.h"

namespace tg {

struct ClockOptions {
  double mean = 128;       // time units a gradient takes on average; the papers count one unit a sample
  double variation = 0.1;  // V: standard deviation / mean of one machine's task times
  bool heterogeneous = false;
  double machine_variation = 0.6;  // V_machine: the same of the machines' means, if heterogeneous
};

// Task time ~ Gamma(shape 1/V^2, scale mean_i V^2) with mean_i = mean, or mean_i ~ Gamma(1/V_machine^2, mean
// V_machine^2). V = 0: the mean itself.
class GammaClock {
 public:
  GammaClock(const ClockOptions& options, int workers, const Stream& stream);
  // Duration of task number `task` of `worker`: a function of (stream, worker, task), whatever was asked before.
  double duration(int worker, int64_t task) const;
  double machine_mean(int worker) const;

 private:
  ClockOptions options_;
  Stream stream_;
  std::vector<double> means_;
};

}  // namespace tg
