#pragma once

#include <functional>
#include <string>

#include "framework/nn/model.h"

namespace tg {

// Where in a computation a number first is infinite or no number, in words: "the parameter fc1.weight", "exp [32, 10],
// after fc1"; empty if all are finite. Looks at the parameters, then runs `compute` (a forward pass of their model,
// say) and looks at the result of every operation. For the message after a loss that is not finite: it takes about as
// long as the pass again.
std::string first_not_finite(const Parameters& parameters, const std::function<void()>& compute);

}  // namespace tg
