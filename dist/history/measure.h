#pragma once
// What engines measure about the parameters.

#include <cstdint>

#include "framework/core/span.h"

namespace tg {

// sqrt(squares / parameters). For `squares` = the sum of those of (theta - sent), this is the gap of Hakimi et al.
// 2019. `parameters` does not count the gaps between tensors. Throws Error unless it is positive.
double root_mean_square(double squares, int64_t parameters);

bool all_finite(View values);

// A 64-bit hash: equal for equal bits on every machine, and almost surely different if a single bit differs. `values`
// must lie on the host.
uint64_t hash_of(View values);

// The value as it should be printed in a message: "nan" and never "-nan", since the sign of a NaN means nothing.
double number_of(double value);

}  // namespace tg
