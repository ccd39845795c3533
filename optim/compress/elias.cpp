#include "optim/compress/elias.h"

#include <bit>

namespace tg {

namespace {

// Bits of k > 0 in binary, and the number in front of it.
int width(uint64_t k) { return 64 - std::countl_zero(k); }
uint64_t before(uint64_t k) { return static_cast<uint64_t>(width(k) - 1); }

[[noreturn]] void longer_than(uint64_t most) { fail("elias: a code word of a number above {}", most); }

}  // namespace

int elias_bits(uint64_t k) {
  int bits = 1;
  for (; k > 1; k = before(k)) bits += width(k);
  return bits;
}

void elias_put(EliasWriter& to, uint64_t k) {
  require(k >= 1, "elias: 0 has no code word");
  uint64_t groups[6];  // from the last to the first: 64 bits, 6 bits, 3 bits, 2 bits
  int n = 0;
  for (; k > 1; k = before(k)) groups[n++] = k;
  while (n > 0) {
    const uint64_t group = groups[--n];
    to.put(group, width(group));
  }
  to.put(0, 1);
}

uint64_t elias_get(EliasReader& from, uint64_t most) {
  uint64_t k = 1;
  while (from.get(1) == 1) {
    // The 1 just read is the highest of k + 1 bits.
    if (k > 63) longer_than(most);
    k = uint64_t{1} << k | from.get(static_cast<int>(k));
  }
  if (k > most) longer_than(most);
  return k;
}

const EliasTable& EliasTable::instance() {
  static const EliasTable table;
  return table;
}

EliasTable::EliasTable() : words_(1024), numbers_(std::size_t{1} << kPeeked, Number{0, 0}) {
  for (uint64_t k = 1; k < words_.size(); ++k) {
    const Word w = long_word(k);
    words_[k] = {static_cast<uint32_t>(w.code), w.bits};
    if (w.bits > kPeeked) continue;
    // Whatever follows the word.
    const int free = kPeeked - w.bits;
    for (uint64_t rest = 0; rest < uint64_t{1} << free; ++rest)
      numbers_[w.code << free | rest] = {static_cast<uint8_t>(k), static_cast<uint8_t>(w.bits)};
  }
}

EliasTable::Word EliasTable::long_word(uint64_t k) {
  Word w{0, 1};
  for (; k > 1; k = before(k)) {
    w.code |= k << w.bits;
    w.bits += width(k);
  }
  return w;
}

// Group by group out of one peek, which holds the whole word of any number up to kMost.
uint64_t EliasTable::long_get(EliasReader& from, uint64_t most) {
  uint64_t left = from.peek(EliasReader::kMostPeeked) << (64 - EliasReader::kMostPeeked), k = 1;
  int used = 0;
  while (left >> 63 == 1) {
    if (k > 31) longer_than(most);
    const int bits = static_cast<int>(k) + 1;
    k = left >> (64 - bits);
    left <<= bits;
    used += bits;
  }
  from.skip(used + 1);
  if (k > most) longer_than(most);
  return k;
}

void EliasTable::too_large(uint64_t most) { longer_than(most); }

}  // namespace tg
