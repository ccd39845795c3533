#include "framework/core/for_each.h"

#include <omp.h>

#include <algorithm>

namespace tg::detail {

void split_range(int64_t n, int64_t unit, RangeBody body) {
  const int64_t parts = std::min<int64_t>(omp_get_max_threads(), n / kParallelGrain);
  if (parts <= 1 || omp_in_parallel()) {
    body.call(body.body, 0, n);
    return;
  }
  const int64_t step = ((n + parts - 1) / parts + unit - 1) / unit * unit;
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = std::min(n, part * step), end = std::min(n, begin + step);
    if (begin < end) body.call(body.body, begin, end);
  }
}

}  // namespace tg::detail
