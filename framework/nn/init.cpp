#include "framework/nn/init.h"

#include <cmath>

#include "framework/core/for_each.h"

namespace tg {

void Init::fill(const Stream& stream, Span values) const {
  const auto at = [&](int64_t i) -> double {
    if (i < first || i >= last) return 0;
    const auto index = static_cast<uint64_t>(i);
    switch (kind) {
      case Kind::constant: break;
      case Kind::normal: return scale * static_cast<double>(stream.normal(index));
      case Kind::uniform: return scale * (2 * static_cast<double>(stream.uniform(index)) - 1);
    }
    return scale;
  };
  detail::split_range(values.size, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] = static_cast<float>(at(i));
  });
}

Init he_normal(int64_t fan_in) {
  require(fan_in > 0, "he_normal: fan_in is {}", fan_in);
  return {Init::Kind::normal, std::sqrt(2.0 / static_cast<double>(fan_in))};
}

Init glorot_uniform(int64_t fan_in, int64_t fan_out) {
  require(fan_in > 0 && fan_out > 0, "glorot_uniform: fan_in is {}, fan_out {}", fan_in, fan_out);
  return {Init::Kind::uniform, std::sqrt(6.0 / static_cast<double>(fan_in + fan_out))};
}

}  // namespace tg
