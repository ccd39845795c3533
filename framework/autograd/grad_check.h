#pragma once
// grad_check: are the gradients of a function right? Compares each with a central difference.

#include <functional>
#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace tg {

struct GradCheckOptions {
  uint64_t seed = 1;      // of the cotangent
  double step = 0x1p-17;  // of the difference; about the cube root of float64's precision, where its error is least
};

// Checks d (sum of f * cotangent) / d input for every element of every input, for a random cotangent without zeros.
//
// Inputs are float64 on `plain`. One that is a leaf already (a layer's parameter, which `f` may use directly) is
// changed in place and put back; the others are copied to leaves, which `f` is given in their order. `f` must be smooth
// within a step of the inputs: keep away from the edges of relu and from ties in max.
//
// Throws Error naming `name`, input, element, both numbers, step and tolerance where they differ; likewise if a
// gradient has another shape than its input, or if `f` gives another value when nothing is recorded.
void grad_check(const std::string& name, const std::function<Tensor(const std::vector<Tensor>&)>& f,
                const std::vector<Tensor>& inputs, const GradCheckOptions& options = {});

}  // namespace tg
