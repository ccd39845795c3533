#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tg {

// y = log softmax of x [classes], by subtracting the largest first.
template <class T>
void log_softmax_row(const T* x, int64_t classes, T* y) {
  const T largest = *std::max_element(x, x + classes);
  double total = 0;
  for (int64_t c = 0; c < classes; ++c) total += std::exp(static_cast<double>(x[c] - largest));
  const T log_total = static_cast<T>(std::log(total));
  for (int64_t c = 0; c < classes; ++c) y[c] = x[c] - largest - log_total;
}

}  // namespace tg
