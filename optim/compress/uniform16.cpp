#include "optim/compress/uniform16.h"

#include <Random123/philox.h>

namespace tg {

namespace {

constexpr int kRounds = 7;
constexpr int kColumns = 16;
constexpr uint32_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;

// Inlined, so that a loop over counters becomes vectors.
[[gnu::always_inline]] inline void philox7(uint32_t key0, uint32_t key1, uint32_t& x0, uint32_t& x1, uint32_t& x2,
                                           uint32_t& x3) {
#pragma GCC unroll 7
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = uint64_t{kMultiplier0} * x0, product1 = uint64_t{kMultiplier1} * x2;
    x0 = static_cast<uint32_t>(product1 >> 32) ^ x1 ^ key0;
    x2 = static_cast<uint32_t>(product0 >> 32) ^ x3 ^ key1;
    x1 = static_cast<uint32_t>(product1);
    x3 = static_cast<uint32_t>(product0);
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
}

}  // namespace

uint16_t uniform16(const Stream& stream, int64_t tensor, int64_t index) {
  const int64_t column = index % kColumns, row = index % kUniformGroup / kColumns;
  const auto counter = static_cast<uint64_t>(tensor + index - index % kUniformGroup + column);
  const r123::Philox4x32_R<kRounds>::ctr_type c = {
      {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0}};
  const r123::Philox4x32_R<kRounds>::ukey_type k = {
      {static_cast<uint32_t>(stream.key()), static_cast<uint32_t>(stream.key() >> 32)}};
  const uint32_t word = r123::Philox4x32_R<kRounds>{}(c, k)[static_cast<std::size_t>(row / 2)];
  return static_cast<uint16_t>(row % 2 == 0 ? word : word >> 16);
}

void uniforms16(const Stream& stream, int64_t tensor, int64_t first, int64_t groups, uint16_t* __restrict out) {
  const auto key0 = static_cast<uint32_t>(stream.key()), key1 = static_cast<uint32_t>(stream.key() >> 32);
  for (int64_t group = 0; group < groups; ++group, out += kUniformGroup) {
    const auto counter = static_cast<uint64_t>(tensor + first + group * kUniformGroup);
    const auto low = static_cast<uint32_t>(counter), high = static_cast<uint32_t>(counter >> 32);
    for (uint32_t column = 0; column < kColumns; ++column) {
      uint32_t x0 = low + column, x1 = high, x2 = 0, x3 = 0;
      philox7(key0, key1, x0, x1, x2, x3);
      out[0 * kColumns + column] = static_cast<uint16_t>(x0);
      out[1 * kColumns + column] = static_cast<uint16_t>(x0 >> 16);
      out[2 * kColumns + column] = static_cast<uint16_t>(x1);
      out[3 * kColumns + column] = static_cast<uint16_t>(x1 >> 16);
      out[4 * kColumns + column] = static_cast<uint16_t>(x2);
      out[5 * kColumns + column] = static_cast<uint16_t>(x2 >> 16);
      out[6 * kColumns + column] = static_cast<uint16_t>(x3);
      out[7 * kColumns + column] = static_cast<uint16_t>(x3 >> 16);
    }
  }
}

}  // namespace tg
