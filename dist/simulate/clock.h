#pragma once
// GammaClock: how long a simulated worker needs for a gradient. Durations are drawn from the gamma distributions of Ali
// et al. 2000, with the parameters of the simulations in DANA (Hakimi et al. 2019).

#include <cstdint>
#include <vector>

#include "framework/core/random.h"

namespace tg {

struct ClockOptions {
  double mean = 128;               // time units for a gradient; in the papers one unit for each sample of the batch
  double variation = 0.1;          // V: standard deviation / mean of the durations on one machine
  bool heterogeneous = false;      // true: machines have different means
  double machine_variation = 0.6;  // V_machine: standard deviation / mean of these means
};

// A duration on machine i is drawn from Gamma(shape 1/V^2, scale mean_i V^2), which has the mean mean_i. Homogeneous
// machines have mean_i = mean; otherwise mean_i is drawn from Gamma(shape 1/V_machine^2, scale mean V_machine^2). For
// V = 0 a duration is the mean itself.
class GammaClock {
 public:
  // Throws Error for a mean that is not positive and finite, or a variation outside of [0, 1].
  GammaClock(const ClockOptions& options, int workers, const Stream& stream);
  // Duration, in time units, of minibatch number `task` of `worker`. A function of stream, worker and task: the order
  // of calls does not matter.
  double duration(int worker, int64_t task) const;
  double machine_mean(int worker) const;  // mean_i, in time units

 private:
  ClockOptions options_;
  Stream stream_;
  std::vector<double> means_;
};

}  // namespace tg
