#include "optim/schedule.h"

#include <cmath>

#include "framework/core/error.h"

namespace tg {

Schedule::Schedule(const Options& options) : options_(options) {
  const auto is_rate = [](double rate) { return std::isfinite(static_cast<float>(rate)) && rate >= 0; };
  require(is_rate(options.peak), "schedule: the learning rate is {}; it must be a number of at least 0", options.peak);
  require(options.warmup >= 0, "schedule: the warm-up lasts {} gradients; it must be at least 0", options.warmup);
  require(is_rate(options.warmup_start) && options.warmup_start <= options.peak,
          "schedule: the warm-up starts at {}; it must be a rate from 0 to the learning rate, {}", options.warmup_start,
          options.peak);
  require(options.factor > 0 && options.factor <= 1,
          "schedule: drops multiply the rate by {}; the factor must be above 0 and at most 1", options.factor);
  int64_t last = 0;
  for (const int64_t drop : options.drops) {
    require(drop > last, "schedule: a drop after {} gradients follows {}; drops must grow and be above 0", drop, last);
    last = drop;
  }
}

float Schedule::rate(int64_t accepted) const {
  double rate = options_.peak;
  if (accepted < options_.warmup)
    rate = options_.warmup_start + (options_.peak - options_.warmup_start) * static_cast<double>(accepted) /
                                       static_cast<double>(options_.warmup);
  for (const int64_t drop : options_.drops)
    if (accepted >= drop) rate *= options_.factor;
  return static_cast<float>(rate);
}

}  // namespace tg
