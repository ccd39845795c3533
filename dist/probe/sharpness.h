#pragma once

#include "dist/task.h"

namespace tg {

// Sharpness: the largest eigenvalue of the Hessian of the mean loss of batches 0 to batches - 1 at `at`, by power
// iteration on differences of gradients. Gradient descent on a quadratic of that curvature converges below a rate of
// 2 / sharpness. Of a loss that is nearly flat there the result may be negative.
double sharpness(const Task& task, View at, uint64_t seed, int64_t batches);

}  // namespace tg
