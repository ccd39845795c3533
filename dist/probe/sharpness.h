#pragma once

#include "dist/task.h"

namespace tg {

// Sharpness: the largest eigenvalue of the Hessian of the mean loss of batches 0 to batches - 1 at the parameters `at`,
// by power iteration: a direction is multiplied by the Hessian (the difference of two gradients) again and again, until
// the eigenvector of the eigenvalue that is largest in size is left. If that one is negative, the result is.
// Gradient descent on a quadratic of that curvature converges below a rate of 2 / sharpness.
// `seed`: that of the run, for the batches, and of the direction to begin with. Throws Error for fewer than 1 batch.
double sharpness(const Task& task, View at, uint64_t seed, int64_t batches);

}  // namespace tg
