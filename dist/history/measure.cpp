#include "dist/history/measure.h"

#include <cmath>

#include "framework/core/reduce.h"

namespace tg {
namespace {

struct SquaredDifference {
  TG_HD double operator()(float a, float b) const {
    const double d = static_cast<double>(a) - static_cast<double>(b);
    return d * d;
  }
};

struct NotFinite {
  TG_HD double operator()(float v) const { return std::isfinite(v) ? 0 : 1; }
};

}  // namespace

double rms_difference(View a, View b, int64_t parameters) {
  require(parameters > 0, "rms_difference: of {} parameters", parameters);
  return std::sqrt(reduce_sum(SquaredDifference{}, a, b) / static_cast<double>(parameters));
}

bool all_finite(View values) { return reduce_sum(NotFinite{}, values) == 0; }

}  // namespace tg
