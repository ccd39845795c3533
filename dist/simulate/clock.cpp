#include "dist/simulate/clock.h"

#include <cmath>

#include "framework/core/error.h"

namespace tg {
namespace {

// A gamma variate by its mean and its standard deviation / mean.
double gamma_variate(const Stream& stream, double mean, double variation) {
  if (variation == 0) return mean;
  const double square = variation * variation;
  return Generator(stream).gamma(1 / square, mean * square);
}

void check_variation(const char* name, double value) {
  require(value >= 0 && value <= 1, "clock: {} is {}; it must lie in [0, 1]", name, value);
}

}  // namespace

GammaClock::GammaClock(const ClockOptions& options, int workers, const Stream& stream)
    : options_(options), stream_(stream) {
  require(workers >= 1, "clock: {} workers; there must be at least 1", workers);
  require(options.mean > 0 && std::isfinite(options.mean),
          "clock: a mean task time of {}; it must be positive and finite", options.mean);
  check_variation("the variation of task times", options.variation);
  check_variation("the variation between machines", options.machine_variation);
  for (int worker = 0; worker < workers; ++worker) {
    const Stream draw = stream.split("machine", static_cast<uint64_t>(worker));
    means_.push_back(options.heterogeneous ? gamma_variate(draw, options.mean, options.machine_variation)
                                           : options.mean);
  }
}

double GammaClock::duration(int worker, int64_t task) const {
  const Stream draw = stream_.split("worker", static_cast<uint64_t>(worker)).split("task", static_cast<uint64_t>(task));
  return gamma_variate(draw, machine_mean(worker), options_.variation);
}

double GammaClock::machine_mean(int worker) const { return means_.at(static_cast<size_t>(worker)); }

}  // namespace tg
