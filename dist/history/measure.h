#pragma once
// What engines measure of the parameters.

#include <cstdint>

#include "framework/core/span.h"

namespace tg {

// Sum of the squares of the differences.
double squared_distance(View a, View b);

// Root mean square over `parameters` of a difference whose squares sum up to `squares`: the gap of Hakimi et al. 2019.
double root_mean_square(double squares, int64_t parameters);

bool all_finite(View values);

// 64 bits that differ, but for chance, where any bit of `values` differs; the same on every machine.
uint64_t hash_of(View values);

// For messages: a NaN has no sign that means anything.
double number_of(double value);

}  // namespace tg
