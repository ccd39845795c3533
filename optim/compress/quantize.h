#pragma once
// The stochastic quantiser of QSGD on one bucket of values, in vectors: norm, codes, and back. qsgd_plain.cpp says the
// same in scalars.

#include <cstddef>
#include <cstdint>

namespace tg {

enum class BucketNorm { l2, max };

// A code is the level in its lowest bits and, above them, the sign of a level that is not 0.
inline constexpr int64_t kMostLevels = 32'767;
int code_bits(int64_t levels);  // 2 for 1 level, 4 for 7, 8 for 127

// The norm of values[0, n), as a float32; not finite if one of them is not, or if it is too large for a float32.
// l2: each 4,096 squares are summed in double by 16 lanes and a tree.
float bucket_norm(BucketNorm norm, const float* values, int64_t n);

// The largest magnitude, but at most `clip` standard deviations: clip * sqrt(mean of v^2), around 0, where cutting is
// symmetric. Not finite if a value is not.
float clipped_max(double clip, const float* values, int64_t n);

// What both ends compute from a bucket's norm, which is finite and above 0.
struct BucketScale {
  BucketScale(float norm, int64_t levels);
  // The level's value without its sign. The highest level is the norm itself, whatever rounding does to the others.
  float magnitude(uint32_t level) const {
    const float between = static_cast<float>(static_cast<int32_t>(level)) * step * down;
    return level == levels ? norm : between;
  }

  float norm;
  float up, down;  // a power of two and its inverse: bring the values near 1 where float32 would lose their last bits
  float per_norm;  // 65536 * levels / (norm * up)
  float step;      // norm * up / levels
  uint32_t levels;
  int sign_shift;  // of a code's highest bit
};

// codes[i] = sign and floor(r + (u + 1/2) / 65536) for r = |value| / norm * levels and the random u = uniforms[i]:
// E[code] is r to within 2^-17 (the price of 16 bits), and r where r is whole. Values above the norm get the highest
// level.
template <class Code>
void quantize(const BucketScale& scale, const float* values, const uint16_t* uniforms, int64_t n, Code* codes);

// values[i] = +-norm * level / levels. Returns false if a code is none that quantize() makes.
template <class Code>
bool dequantize(const BucketScale& scale, const Code* codes, int64_t n, float* values);

// n codes of `bits` bits, one behind the other, lowest bit first, in (n * bits + 7) / 8 bytes.
template <class Code>
void pack(const Code* codes, int64_t n, int bits, std::byte* out);
// Returns false if the last byte is not filled with zeros.
template <class Code>
bool unpack(const std::byte* bytes, int64_t n, int bits, Code* codes);

}  // namespace tg
