#include "dist/history/measure.h"

#include <bit>
#include <cmath>

#include "framework/core/reduce.h"

namespace tg {
namespace {

struct NotFinite {
  TG_HD double operator()(float v) const { return std::isfinite(v) ? 0 : 1; }
};

}  // namespace

double root_mean_square(double squares, int64_t parameters) {
  require(parameters > 0, "root_mean_square: of {} parameters", parameters);
  return std::sqrt(squares / static_cast<double>(parameters));
}

bool all_finite(View values) { return reduce_sum(NotFinite{}, values) == 0; }

// Lane l hashes the values l, l + 16, l + 32, ... by the step of MurmurHash3 (Appleby 2011). Sixteen lanes do not
// depend on each other, so the compiler makes a vector of them. At the end the finaliser of SplitMix64 mixes the lanes
// into one.
uint64_t hash_of(View values) {
  require(values.device.on_host(), "hash_of: values on {}", name_of(values.device));
  constexpr int kLanes = 16;
  uint32_t lane[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) lane[l] = 0x9E3779B9u * (l + 1);
  const auto mix = [](uint32_t& h, float value) {
    uint32_t k = std::bit_cast<uint32_t>(value) * 0xCC9E2D51u;
    k = std::rotl(k, 15) * 0x1B873593u;
    h = std::rotl(h ^ k, 13) * 5 + 0xE6546B64u;
  };
  int64_t i = 0;
  for (; i + kLanes <= values.size; i += kLanes)
    for (int l = 0; l < kLanes; ++l) mix(lane[l], values[i + l]);
  for (int l = 0; i < values.size; ++i, ++l) mix(lane[l], values[i]);
  uint64_t hash = static_cast<uint64_t>(values.size);
  for (const uint32_t h : lane) {  // the finaliser of SplitMix64
    hash = (hash ^ h) + 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9u;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EBu;
    hash ^= hash >> 31;
  }
  return hash;
}

double number_of(double value) { return std::isnan(value) ? std::abs(value) : value; }

}  // namespace tg
