#pragma once
// What engines measure of the parameters.

#include "framework/core/span.h"

namespace tg {

// Root mean square of the difference of two vectors that hold `parameters` parameters each, and zeros in the gaps of
// their layout: the gap of Hakimi et al. 2019.
double rms_difference(View a, View b, int64_t parameters);

bool all_finite(View values);

}  // namespace tg
