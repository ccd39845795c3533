// Bits in bytes, against strings of '0' and '1'.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "framework/core/random.h"
#include "optim/compress/bits.h"

namespace {

using namespace tg;

struct Number {
  uint64_t value;
  int width;
};

std::vector<Number> numbers(int count) {
  Generator random(Stream(3).split("bits"));
  std::vector<Number> all;
  for (int i = 0; i < count; ++i) {
    const int width = i <= 64 ? i : static_cast<int>(random.below(65));
    all.push_back({random.next() | uint64_t{random.next()} << 32, width});  // bits above the width are ignored
  }
  return all;
}

// The bits in the order in which they are written.
template <BitOrder order>
std::string text(const std::vector<Number>& all) {
  std::string bits;
  for (const Number& n : all)
    for (int i = 0; i < n.width; ++i)
      bits += (n.value >> (order == BitOrder::low_first ? i : n.width - 1 - i) & 1) != 0 ? '1' : '0';
  return bits;
}

template <BitOrder order>
std::vector<std::byte> bytes_of(const std::string& bits) {
  std::vector<std::byte> bytes((bits.size() + 7) / 8);
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i] == '1') bytes[i / 8] |= std::byte{1} << (order == BitOrder::low_first ? i % 8 : 7 - i % 8);
  return bytes;
}

template <BitOrder order>
void any_width() {
  for (const int count : {0, 1, 2, 65, 300, 2000}) {
    const std::vector<Number> all = numbers(count);
    const std::vector<std::byte> expected = bytes_of<order>(text<order>(all));
    std::vector<std::byte> bytes(expected.size(), std::byte{0xff});
    BitWriter<order> writer(bytes);
    for (const Number& n : all) writer.put(n.value, n.width);
    BOOST_TEST(writer.finish() == std::ssize(expected));
    BOOST_TEST((bytes == expected));

    BitReader<order> reader(bytes);
    for (const Number& n : all) {
      const uint64_t value = n.width == 64 ? n.value : n.value & ((uint64_t{1} << n.width) - 1);
      if (n.width <= BitReader<order>::kMostPeeked) BOOST_REQUIRE(reader.peek(n.width) == value);
      BOOST_REQUIRE(reader.get(n.width) == value);
    }
    BOOST_TEST(reader.finish() == std::ssize(bytes));
    BOOST_TEST(reader.bits_left() == 0u);
  }
}

// Every capacity that is too small, and every byte behind what was written.
template <BitOrder order>
void limits() {
  for (int bits = 0; bits <= 130; ++bits) {
    for (size_t capacity = 0; capacity <= 20; ++capacity) {
      std::vector<std::byte> bytes(20, std::byte{0x5a});
      BitWriter<order> writer({bytes.data(), capacity});
      const auto write = [&] {
        for (int left = bits; left > 0; left -= 7) writer.put(0, std::min(left, 7));
        return writer.finish();
      };
      const auto needed = static_cast<size_t>((bits + 7) / 8);
      if (needed > capacity)
        BOOST_CHECK_THROW(write(), Error);
      else
        BOOST_TEST(write() == static_cast<int64_t>(needed));
      for (size_t i = std::min(needed, capacity); i < bytes.size(); ++i) BOOST_REQUIRE((bytes[i] == std::byte{0x5a}));
    }
  }
  for (size_t size = 0; size <= 20; ++size) {
    const std::vector<std::byte> bytes(size, std::byte{0xff});
    BitReader<order> reader(bytes);
    BOOST_TEST(reader.peek(57) == (size >= 8 ? (uint64_t{1} << 57) - 1 : reader.peek(57)));
    for (size_t i = 0; i < 8 * size; ++i) BOOST_REQUIRE(reader.get(1) == 1u);
    BOOST_TEST(reader.peek(57) == 0u);
    BOOST_CHECK_THROW(reader.get(1), Error);
    BOOST_CHECK_THROW(reader.get(64), Error);
    BOOST_TEST(reader.get(0) == 0u);
  }
}

BOOST_AUTO_TEST_SUITE(bits)

BOOST_AUTO_TEST_CASE(any_width_comes_back) {
  any_width<BitOrder::low_first>();
  any_width<BitOrder::high_first>();
}

BOOST_AUTO_TEST_CASE(nothing_outside_the_span) {
  limits<BitOrder::low_first>();
  limits<BitOrder::high_first>();
}

BOOST_AUTO_TEST_CASE(the_last_byte_is_filled_with_zeros) {
  const std::byte low[] = {std::byte{0x05}}, high[] = {std::byte{0xa0}}, wrong_low[] = {std::byte{0x15}},
                  wrong_high[] = {std::byte{0xa1}};
  const auto finished = [](auto reader) {
    BOOST_TEST(reader.get(3) == 5u);
    return reader.finish();
  };
  BOOST_TEST(finished(BitReader<BitOrder::low_first>(low)) == 1);
  BOOST_TEST(finished(BitReader<BitOrder::high_first>(high)) == 1);
  BOOST_CHECK_THROW(finished(BitReader<BitOrder::low_first>(wrong_low)), Error);
  BOOST_CHECK_THROW(finished(BitReader<BitOrder::high_first>(wrong_high)), Error);
}

BOOST_AUTO_TEST_CASE(a_writer_goes_on_behind_a_finished_byte) {
  std::vector<std::byte> bytes(3);
  BitWriter<BitOrder::high_first> writer(bytes);
  writer.put(1, 1);
  BOOST_TEST(writer.finish() == 1);
  writer.put(0x102, 12);
  BOOST_TEST(writer.finish() == 3);
  BOOST_TEST((bytes == std::vector{std::byte{0x80}, std::byte{0x10}, std::byte{0x20}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
