#include "framework/core/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "framework/core/error.h"
#include "framework/core/fnv.h"

namespace tg {
namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

uint32_t low(uint64_t v) { return static_cast<uint32_t>(v); }
uint32_t high(uint64_t v) { return static_cast<uint32_t>(v >> 32); }

// Philox 4x32-10 of a 128-bit counter, given as two numbers, under a 64-bit key. Inlined, so that a loop over counters
// becomes vectors.
[[gnu::always_inline]] inline std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter, uint64_t counter_high) {
  const r123::Philox4x32::ctr_type c = {{low(counter), high(counter), low(counter_high), high(counter_high)}};
  const r123::Philox4x32::ukey_type k = {{low(key), high(key)}};
  const auto block = r123::Philox4x32{}(c, k);
  return {block[0], block[1], block[2], block[3]};
}

uint64_t split_key(uint64_t key, uint64_t name_hash, uint64_t number) {
  const auto block = philox(key, name_hash, number);
  return block[0] | uint64_t{block[1]} << 32;
}

float to_uniform(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

double gaussian(uint32_t radius, uint32_t angle) {
  const double u = (radius + 0.5) * 0x1p-32;  // never 0
  return std::sqrt(-2 * std::log(u)) * std::cos(kTwoPi * 0x1p-32 * angle);
}

}  // namespace

Stream Stream::split(std::string_view name) const { return Stream(split_key(key_, fnv1a(name), 0)); }

Stream Stream::split(std::string_view name, uint64_t number) const {
  // The zero byte, which no name contains, keeps split("a", 0) apart from split("a").
  return Stream(split_key(key_, fnv1a({"\0", 1}, fnv1a(name)), number));
}

std::array<uint32_t, 4> Stream::bits(uint64_t index) const { return philox(key_, index, 0); }

float Stream::uniform(uint64_t index) const { return to_uniform(bits(index / 4)[index % 4]); }

void Stream::uniforms(uint64_t first, int64_t count, float* __restrict out) const {
  require(first % 4 == 0, "random: uniforms from {}; they start at a multiple of 4", first);
  const auto whole = static_cast<uint64_t>(count / 4);
  for (uint64_t b = 0; b < whole; ++b) {
    const auto block = philox(key_, first / 4 + b, 0);
    for (uint64_t i = 0; i < 4; ++i) out[4 * b + i] = to_uniform(block[i]);
  }
  for (uint64_t i = 4 * whole; i < static_cast<uint64_t>(count); ++i) out[i] = uniform(first + i);
}

float Stream::normal(uint64_t index) const {
  const auto block = bits(index / 2);
  const size_t first = index % 2 * 2;
  return static_cast<float>(gaussian(block[first], block[first + 1]));
}

uint32_t Generator::next() {
  const uint64_t index = index_++;
  return stream_.bits(index / 4)[index % 4];
}

double Generator::uniform() { return (next() + 0.5) * 0x1p-32; }

double Generator::normal() {
  const uint32_t radius = next();
  return gaussian(radius, next());
}

uint64_t Generator::below(uint64_t n) {
  require(n > 0, "random: a number below 0 was asked for; the bound must be at least 1");
  // The lowest 2^64 mod n values are drawn again, so that every remainder is equally likely.
  const uint64_t excess = (0 - n) % n;
  while (true) {
    const uint64_t lower = next();
    const uint64_t value = lower | uint64_t{next()} << 32;
    if (value >= excess) return value % n;
  }
}

double Generator::gamma(double shape, double scale) {
  require(shape >= 1 && std::isfinite(shape) && scale > 0 && std::isfinite(scale),
          "random: gamma variates need a shape of at least 1 and a positive scale, got {} and {}", shape, scale);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

}  // namespace tg
