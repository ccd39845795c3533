#pragma once
// What the benchmarks share: a clock, and quantiles of what it measured.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

namespace tg {

// Seconds on a clock that only moves forward; only differences have a meaning.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The value below which `share` (0 to 1) of the values lie: 0 gives the smallest, 0.5 the median. There must be values.
inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::llround(share * static_cast<double>(values.size() - 1)))];
}

}  // namespace tg
