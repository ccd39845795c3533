#include "optim/compress/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "framework/core/reduce.h"
#include "optim/compress/bits.h"

namespace tg {

namespace {

constexpr uint32_t kMagnitude = 0x7fffffffu, kInfinity = 0x7f800000u;
constexpr float kTiny = 0x1p-64f, kHuge = 0x1p64f;

std::size_t bytes_of(int64_t n, int bits) { return static_cast<std::size_t>((n * bits + 7) / 8); }

// The words of 1, 2, 4 and 8 bits, of which a byte holds a whole number, in vectors; returns how many codes are done.
int64_t pack_bytes(const uint8_t* __restrict codes, int64_t n, int bits, std::byte* __restrict out) {
  if (bits == 8) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<std::byte>(codes[i]);
    return n;
  }
  if (bits == 4) {
    for (int64_t i = 0; i < n / 2; ++i) out[i] = static_cast<std::byte>(codes[2 * i] | codes[2 * i + 1] << 4);
    return n / 2 * 2;
  }
  if (bits == 1) {
    // Eight codes as one word: the product moves the lowest bit of byte i to bit 56 + i.
    for (int64_t i = 0; i < n / 8; ++i) {
      uint64_t eight = 0;
      std::memcpy(&eight, codes + 8 * i, sizeof eight);
      out[i] = static_cast<std::byte>(eight * 0x0102040810204080u >> 56);
    }
    return n / 8 * 8;
  }
  if (bits == 2) {
    for (int64_t i = 0; i < n / 4; ++i)
      out[i] =
          static_cast<std::byte>(codes[4 * i] | codes[4 * i + 1] << 2 | codes[4 * i + 2] << 4 | codes[4 * i + 3] << 6);
    return n / 4 * 4;
  }
  return 0;
}

int64_t unpack_bytes(const std::byte* __restrict bytes, int64_t n, int bits, uint8_t* __restrict codes) {
  const auto byte = [&](int64_t i) { return static_cast<uint32_t>(bytes[i]); };
  if (bits == 8) {
    for (int64_t i = 0; i < n; ++i) codes[i] = static_cast<uint8_t>(byte(i));
    return n;
  }
  if (bits == 4) {
    for (int64_t i = 0; i < n / 2; ++i) {
      codes[2 * i] = static_cast<uint8_t>(byte(i) & 15);
      codes[2 * i + 1] = static_cast<uint8_t>(byte(i) >> 4);
    }
    return n / 2 * 2;
  }
  if (bits == 1) {
    // Eight codes as one word: byte i keeps bit i of its copy, which the sum moves to the byte's highest bit.
    for (int64_t i = 0; i < n / 8; ++i) {
      const uint64_t kept = byte(i) * 0x0101010101010101u & 0x8040201008040201u;
      const uint64_t eight = (kept + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
      std::memcpy(codes + 8 * i, &eight, sizeof eight);
    }
    return n / 8 * 8;
  }
  if (bits == 2) {
    // Four codes as one word, the first in its lowest byte.
    for (int64_t i = 0; i < n / 4; ++i) {
      const uint32_t four = (byte(i) | byte(i) << 6 | byte(i) << 12 | byte(i) << 18) & 0x03030303u;
      std::memcpy(codes + 4 * i, &four, sizeof four);
    }
    return n / 4 * 4;
  }
  return 0;
}

// Magnitudes are ordered as their bits are, infinities and NaN above all.
uint32_t largest_magnitude(const float* values, int64_t n) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::bit_cast<uint32_t>(values[i]) & kMagnitude);
  return largest;
}

double squares(const float* values, int64_t begin, int64_t end) {
  return detail::reduce_block([](float x) { return double{x} * double{x}; }, begin, end, values);
}

}  // namespace

int code_bits(int64_t levels) { return 65 - std::countl_zero(static_cast<uint64_t>(levels)); }

float bucket_norm(BucketNorm norm, const float* values, int64_t n) {
  const uint32_t largest = largest_magnitude(values, n);
  if (norm == BucketNorm::max || largest >= kInfinity) return std::bit_cast<float>(largest);
  double sum = 0;
  for (int64_t i = 0; i < n; i += kReduceBlock) sum += squares(values, i, std::min(n, i + kReduceBlock));
  return static_cast<float>(std::sqrt(sum));
}

float clipped_max(double clip, const float* values, int64_t n) {
  uint32_t largest = 0;
  double sum = 0;
  for (int64_t i = 0; i < n; i += kReduceBlock) {
    const int64_t end = std::min(n, i + kReduceBlock);
    largest = std::max(largest, largest_magnitude(values + i, end - i));
    sum += squares(values, i, end);
  }
  const auto max = std::bit_cast<float>(largest);
  if (largest >= kInfinity) return max;
  const double cut = clip * std::sqrt(sum / static_cast<double>(std::max<int64_t>(n, 1)));
  return cut < max ? static_cast<float>(cut) : max;
}

BucketScale::BucketScale(float norm_of_bucket, int64_t number_of_levels)
    : norm(norm_of_bucket),
      up(norm < kTiny   ? kHuge
         : norm > kHuge ? kTiny
                        : 1.0f),
      down(1 / up),
      per_norm(65536 * static_cast<float>(number_of_levels) / (norm * up)),
      step(norm * up / static_cast<float>(number_of_levels)),
      levels(static_cast<uint32_t>(number_of_levels)),
      sign_shift(code_bits(number_of_levels) - 1) {}

template <class Code>
void quantize(const BucketScale& scale, const float* __restrict values, const uint16_t* __restrict uniforms, int64_t n,
              Code* __restrict codes) {
  const BucketScale s = scale;
  const auto norm_bits = std::bit_cast<uint32_t>(s.norm);
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<uint32_t>(values[i]);
    const auto magnitude = std::bit_cast<float>(bits & kMagnitude);
    // r in units of 2^-16, to the nearest; below 2^31 for every number of levels.
    const auto within = std::bit_cast<float>(std::min(bits & kMagnitude, norm_bits));
    const auto r = static_cast<uint32_t>(static_cast<int32_t>(within * s.up * s.per_norm + 0.5f));
    const uint32_t rounded = std::min((r + uniforms[i]) >> 16, s.levels);
    const uint32_t level = magnitude >= s.norm ? s.levels : rounded;
    const uint32_t sign = level == 0 ? 0 : bits >> 31;
    codes[i] = static_cast<Code>(level | sign << s.sign_shift);
  }
}

template <class Code>
bool dequantize(const BucketScale& scale, const Code* __restrict codes, int64_t n, float* __restrict values) {
  const BucketScale s = scale;
  const uint32_t sign_bit = uint32_t{1} << s.sign_shift;
  uint32_t bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t code = codes[i], level = code & (sign_bit - 1);
    bad |= static_cast<uint32_t>(level > s.levels) | static_cast<uint32_t>(code == sign_bit);
    values[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(s.magnitude(level)) | (code >> s.sign_shift) << 31);
  }
  return bad == 0;
}

template <class Code>
void pack(const Code* codes, int64_t n, int bits, std::byte* out) {
  int64_t done = 0;
  if constexpr (sizeof(Code) == 1) done = pack_bytes(codes, n, bits, out);
  BitWriter<BitOrder::low_first> writer({out + done * bits / 8, bytes_of(n - done, bits)});
  for (int64_t i = done; i < n; ++i) writer.put(codes[i], bits);
  writer.finish();
}

template <class Code>
bool unpack(const std::byte* bytes, int64_t n, int bits, Code* codes) {
  int64_t done = 0;
  if constexpr (sizeof(Code) == 1) done = unpack_bytes(bytes, n, bits, codes);
  BitReader<BitOrder::low_first> reader({bytes + done * bits / 8, bytes_of(n - done, bits)});
  for (int64_t i = done; i < n; ++i) codes[i] = static_cast<Code>(reader.get(bits));
  return reader.get(static_cast<int>(reader.bits_left())) == 0;
}

template void quantize(const BucketScale&, const float*, const uint16_t*, int64_t, uint8_t*);
template void quantize(const BucketScale&, const float*, const uint16_t*, int64_t, uint16_t*);
template bool dequantize(const BucketScale&, const uint8_t*, int64_t, float*);
template bool dequantize(const BucketScale&, const uint16_t*, int64_t, float*);
template void pack(const uint8_t*, int64_t, int, std::byte*);
template void pack(const uint16_t*, int64_t, int, std::byte*);
template bool unpack(const std::byte*, int64_t, int, uint8_t*);
template bool unpack(const std::byte*, int64_t, int, uint16_t*);

}  // namespace tg
