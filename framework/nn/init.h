#pragma once
// Initial values of parameters.

#include <cstdint>

#include "framework/core/random.h"
#include "framework/core/span.h"

namespace tg {

// How a parameter starts: a distribution and its scale. Values are drawn by element index from the parameter's own
// stream.
struct Init {
  enum class Kind { constant, normal, uniform };
  Kind kind = Kind::constant;
  double scale = 0;                     // the constant; the standard deviation; the half width
  int64_t first = 0, last = INT64_MAX;  // of elements [first, last); the others start at 0

  void fill(const Stream& stream, Span values) const;
};

inline Init zeros_init() { return {}; }
// Normal with variance 2 / fan_in: keeps the variance through relu (He et al. 2015).
Init he_normal(int64_t fan_in);
// Uniform with variance 2 / (fan_in + fan_out): for layers without relu (Glorot and Bengio 2010).
Init glorot_uniform(int64_t fan_in, int64_t fan_out);

}  // namespace tg
