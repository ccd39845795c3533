#pragma once
// sigmoid and tanh of float32 without a branch and without a call, so that a loop over them becomes vector
// instructions. Relative error below 2e-7; a NaN stays one.
//
// libm's functions take one number at a time, and longer than the products of a small LSTM (docs/performance.md).

#include <bit>
#include <cmath>
#include <cstdint>

namespace tg {

// e^x = scale (1 + rest), scale a power of two; for x <= 0. Below -87 it is e^-87, about 1e-38: scale stays normal.
struct Exponential {
  float scale, rest;

  explicit Exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    // x = n log 2 + r, |r| <= log(2) / 2. Adding 1.5 * 2^23 rounds to a whole number n, in the last bits of the sum.
    constexpr float kRounder = 0x1.8p23f;
    const float sum = std::fma(x, 1.44269504f, kRounder), n = sum - kRounder;
    constexpr float kLog2 = 0x1.62e4p-1f, kRestOfLog2 = 0x1.7f7d1cp-20f;  // the first has few bits: n times it is exact
    const float r = std::fma(-n, kRestOfLog2, std::fma(-n, kLog2, x));
    scale = std::bit_cast<float>((std::bit_cast<uint32_t>(sum) << 23) + (uint32_t{127} << 23));
    // e^r - 1 by its Taylor series; the next term is below 2^-26 of the sum.
    float p = 1.0f / 5040;
    p = std::fma(p, r, 1.0f / 720);
    p = std::fma(p, r, 1.0f / 120);
    p = std::fma(p, r, 1.0f / 24);
    p = std::fma(p, r, 1.0f / 6);
    p = std::fma(p, r, 1.0f / 2);
    p = std::fma(p, r, 1.0f);
    rest = p * r;
  }
  float value() const { return std::fma(scale, rest, scale); }
  // e^x - 1, without the cancellation at small x.
  float minus_one() const { return std::fma(scale, rest, scale - 1); }
};

// 1 / (1 + e^-x)
inline float fast_sigmoid(float x) {
  const float e = Exponential(-std::fabs(x)).value();
  return (x < 0 ? e : 1.0f) / (1 + e);
}

// (1 - e^-2|x|) / (1 + e^-2|x|), with x's sign
inline float fast_tanh(float x) {
  const float m = Exponential(-2 * std::fabs(x)).minus_one();
  return std::copysign(m / (2 + m), x);
}

}  // namespace tg
