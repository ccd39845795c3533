#pragma once
// Bits in a span of bytes: numbers of any width from 0 to 64 bits, one behind the other.
//
// The order is part of a format, so it is part of the type:
//   low_first   the number's lowest bit comes first, in the byte's lowest free bit: packed words, without a shuffle
//   high_first  the number's highest bit comes first, in the byte's highest free bit: codes that are read bit by bit

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "framework/core/error.h"

namespace tg {

enum class BitOrder { low_first, high_first };

namespace detail {

static_assert(std::endian::native == std::endian::little, "bits are moved in words as they lie in memory");

inline uint64_t low_bits(uint64_t value, int width) {
  return width < 64 ? value & ((uint64_t{1} << width) - 1) : value;
}

[[noreturn]] inline void bits_overflow(std::size_t bytes) { fail("bits: {} bytes have no room for more bits", bytes); }
[[noreturn]] inline void bits_end(std::size_t bytes) { fail("bits: more were asked for than {} bytes hold", bytes); }

}  // namespace detail

// Writes from the span's start; bytes behind what was written are not touched.
template <BitOrder order>
class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> out) : out_(out) {}

  // Appends the lowest `width` bits of `value`, 0 to 64; higher ones are ignored. Throws Error when the span is full.
  void put(uint64_t value, int width) {
    if (width <= 32) return put_short(static_cast<uint32_t>(detail::low_bits(value, width)), width);
    if constexpr (order == BitOrder::low_first) {
      put_short(static_cast<uint32_t>(value), 32);
      put_short(static_cast<uint32_t>(detail::low_bits(value >> 32, width - 32)), width - 32);
    } else {
      put_short(static_cast<uint32_t>(detail::low_bits(value >> 32, width - 32)), width - 32);
      put_short(static_cast<uint32_t>(value), 32);
    }
  }

  // Fills the last byte with zeros and returns the bytes written so far. More may follow, from the next byte on.
  int64_t finish() {
    for (; waiting_ > 0; waiting_ -= 8) {
      if (at_ == out_.size()) detail::bits_overflow(out_.size());
      if constexpr (order == BitOrder::low_first) {
        out_[at_++] = static_cast<std::byte>(bits_);
        bits_ >>= 8;
      } else {
        out_[at_++] = static_cast<std::byte>(waiting_ >= 8 ? bits_ >> (waiting_ - 8) : bits_ << (8 - waiting_));
      }
    }
    bits_ = 0;
    waiting_ = 0;
    return static_cast<int64_t>(at_);
  }

 private:
  // `value` < 2^width, width <= 32. Between calls fewer than 32 bits wait, so that 64 have room for all.
  void put_short(uint32_t value, int width) {
    if constexpr (order == BitOrder::low_first)
      bits_ |= uint64_t{value} << waiting_;
    else
      bits_ = bits_ << width | value;
    waiting_ += width;
    if (waiting_ < 32) return;
    if (out_.size() - at_ < 4) detail::bits_overflow(out_.size());
    waiting_ -= 32;
    const auto word = order == BitOrder::low_first ? static_cast<uint32_t>(bits_)
                                                   : __builtin_bswap32(static_cast<uint32_t>(bits_ >> waiting_));
    std::memcpy(out_.data() + at_, &word, 4);
    at_ += 4;
    if constexpr (order == BitOrder::low_first) bits_ >>= 32;
  }

  std::span<std::byte> out_;
  std::size_t at_ = 0;
  uint64_t bits_ = 0;  // low_first: the lowest `waiting_` are to be written; high_first: likewise, above them is old
  int waiting_ = 0;
};

// Reads from the span's start, and never behind its end.
template <BitOrder order>
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  static constexpr int kMostPeeked = 57;  // bits that lie in 8 bytes wherever they start

  // The next `width` bits, 0 to 64. Throws Error when there are not as many.
  uint64_t get(int width) {
    if (width <= kMostPeeked) {
      const uint64_t value = peek(width);
      skip(width);
      return value;
    }
    const uint64_t first = get(32), second = get(width - 32);
    return order == BitOrder::low_first ? first | second << 32 : first << (width - 32) | second;
  }

  // The next `width` bits, 0 to kMostPeeked, which stay where they are; behind the end there are zeros.
  uint64_t peek(int width) const {
    if (width == 0) return 0;
    const uint64_t word = load(at_ / 8);
    if constexpr (order == BitOrder::low_first) return detail::low_bits(word >> (at_ % 8), width);
    return __builtin_bswap64(word) << (at_ % 8) >> (64 - width);
  }
  void skip(int width) {
    if (static_cast<uint64_t>(width) > bits_left()) detail::bits_end(bytes_.size());
    at_ += static_cast<uint64_t>(width);
  }

  uint64_t bits_left() const { return uint64_t{8} * bytes_.size() - at_; }

  // Goes on to the next whole byte and returns how many bytes are behind. Throws Error unless what is skipped is zeros.
  int64_t finish() {
    const int padding = static_cast<int>((8 - at_ % 8) % 8);
    require(get(padding) == 0, "bits: a last byte is not filled with zeros");
    return static_cast<int64_t>(at_ / 8);
  }

 private:
  // 8 bytes, those behind the end as zeros.
  uint64_t load(uint64_t byte) const {
    uint64_t word = 0;
    const std::size_t left = bytes_.size() - byte;
    if (left >= 8)
      std::memcpy(&word, bytes_.data() + byte, 8);
    else if (left > 0)
      std::memcpy(&word, bytes_.data() + byte, left);
    return word;
  }

  std::span<const std::byte> bytes_;
  uint64_t at_ = 0;  // bits from the start
};

}  // namespace tg
