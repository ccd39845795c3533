#pragma once
// Elias omega (Elias 1975): a code word for each whole number from 1, short for small ones, with no end mark between.
//
//   1 -> 0      2 -> 100    3 -> 110    4 -> 101000    7 -> 101110    8 -> 1110000    16 -> 10100100000
//
// k's word is k in binary, before it the number of its bits less 1 in binary, before that the same of that number, ...
// down to 1, which is left out; a 0 ends the word. At most 1 + 2.5 log2(k) bits, reached at 4 and 16.
//
// elias_put and elias_get say so in a page. EliasTable gives the same bits several times faster.

#include <cstdint>
#include <vector>

#include "optim/compress/bits.h"

namespace tg {

using EliasWriter = BitWriter<BitOrder::high_first>;
using EliasReader = BitReader<BitOrder::high_first>;

// Bits of k's word; k >= 1.
int elias_bits(uint64_t k);

// Appends k's word; k >= 1. Throws Error when the writer is full.
void elias_put(EliasWriter& to, uint64_t k);

// The next number. Throws Error at the end of the bits, and for a word of a number above `most`.
uint64_t elias_get(EliasReader& from, uint64_t most);

class EliasTable {
 public:
  static const EliasTable& instance();
  static constexpr uint64_t kMost = (uint64_t{1} << 32) - 1;  // its words have at most 43 bits

  struct Word {
    uint64_t code;  // in its lowest `bits` bits
    int bits;
  };
  // 1 <= k <= kMost.
  Word word(uint64_t k) const {
    if (k < words_.size()) return {words_[k].code, words_[k].bits};
    return long_word(k);
  }
  void put(EliasWriter& to, uint64_t k) const {
    const Word w = word(k);
    to.put(w.code, w.bits);
  }
  // As elias_get, for most <= kMost.
  uint64_t get(EliasReader& from, uint64_t most) const {
    const Number n = numbers_[from.peek(kPeeked)];
    if (n.bits == 0) return long_get(from, most);
    from.skip(n.bits);
    if (n.k > most) too_large(most);
    return n.k;
  }

 private:
  static constexpr int kPeeked = 13;  // the words of 1 to 127; 16 KiB

  struct ShortWord {
    uint32_t code;
    int32_t bits;
  };
  struct Number {
    uint8_t k, bits;  // bits = 0: the word is longer than kPeeked
  };

  EliasTable();
  static Word long_word(uint64_t k);
  static uint64_t long_get(EliasReader& from, uint64_t most);
  [[noreturn]] static void too_large(uint64_t most);

  std::vector<ShortWord> words_;  // by number
  std::vector<Number> numbers_;   // by the next kPeeked bits
};

}  // namespace tg
