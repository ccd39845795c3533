#pragma once

#include "framework/core/tensor.h"

namespace tg {

// y = max(y, 0), where a NaN stays one. oneDNN's own relu makes it 0, which would hide that a run has diverged.
void relu_in_place(Tensor& y);

}  // namespace tg
