// Elias omega: the code words, their lengths, and that the table says the same as the page.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <optional>

#include "framework/core/random.h"
#include "optim/compress/elias.h"

namespace {

using namespace tg;

std::string word(uint64_t k) {
  std::byte bytes[16];
  EliasWriter to(bytes);
  elias_put(to, k);
  to.finish();
  EliasReader from(bytes);
  std::string bits;
  for (int i = 0; i < elias_bits(k); ++i) bits += from.get(1) == 1 ? '1' : '0';
  return bits;
}

BOOST_AUTO_TEST_SUITE(elias)

BOOST_AUTO_TEST_CASE(code_words) {
  const std::map<uint64_t, std::string> words = {{1, "0"},
                                                 {2, "100"},
                                                 {3, "110"},
                                                 {4, "101000"},
                                                 {5, "101010"},
                                                 {7, "101110"},
                                                 {8, "1110000"},
                                                 {15, "1111110"},
                                                 {16, "10100100000"},
                                                 {32, "101011000000"},
                                                 {100, "1011011001000"},
                                                 {1000, "11100111111010000"}};
  for (const auto& [k, bits] : words) BOOST_TEST(word(k) == bits);
}

BOOST_AUTO_TEST_CASE(lengths) {
  const std::map<uint64_t, int> lengths = {{1, 1},    {2, 3},     {3, 3},           {4, 6},   {7, 6},
                                           {8, 7},    {15, 7},    {16, 11},         {31, 11}, {32, 12},
                                           {100, 13}, {1000, 17}, {4294967295u, 43}};
  for (const auto& [k, bits] : lengths) BOOST_TEST(elias_bits(k) == bits);
  int longest = 0;
  for (uint64_t k = 1; k <= 1 << 20; ++k) {
    BOOST_REQUIRE(elias_bits(k) >= longest);  // never shorter for a larger number
    longest = elias_bits(k);
    BOOST_REQUIRE(longest <= 1 + 2.5 * std::log2(static_cast<double>(k)) + 1e-9);
  }
  for (const uint64_t tight : {4, 16}) BOOST_TEST(elias_bits(tight) == 1 + 2.5 * std::log2(static_cast<double>(tight)));
}

std::vector<uint64_t> numbers() {
  std::vector<uint64_t> all;
  for (uint64_t k = 1; k <= 20'000; ++k) all.push_back(k);
  for (int bits = 1; bits <= 32; ++bits)
    for (const uint64_t k : {(uint64_t{1} << bits) - 1, uint64_t{1} << (bits - 1)}) all.push_back(k);
  Generator random(Stream(5).split("elias"));
  for (int i = 0; i < 20'000; ++i) all.push_back((random.next() >> random.below(32)) | 1u);
  return all;
}

BOOST_AUTO_TEST_CASE(the_table_gives_the_same_bits) {
  const std::vector<uint64_t> all = numbers();
  const EliasTable& table = EliasTable::instance();
  std::vector<std::byte> plain(8 * all.size()), fast(plain.size());
  EliasWriter plain_writer(plain), fast_writer(fast);
  int64_t bits = 0;
  for (const uint64_t k : all) {
    elias_put(plain_writer, k);
    table.put(fast_writer, k);
    BOOST_REQUIRE(table.word(k).bits == elias_bits(k));
    bits += elias_bits(k);
  }
  BOOST_TEST(plain_writer.finish() == (bits + 7) / 8);
  BOOST_TEST(fast_writer.finish() == (bits + 7) / 8);
  BOOST_TEST((plain == fast));
  EliasReader plain_reader(plain), fast_reader(plain);
  for (const uint64_t k : all) {
    BOOST_REQUIRE(elias_get(plain_reader, EliasTable::kMost) == k);
    BOOST_REQUIRE(table.get(fast_reader, EliasTable::kMost) == k);
  }
  BOOST_TEST(plain_reader.bits_left() == fast_reader.bits_left());
}

BOOST_AUTO_TEST_CASE(numbers_of_64_bits) {
  for (const uint64_t k : {uint64_t{1} << 32, uint64_t{1} << 63, UINT64_MAX}) {
    std::byte bytes[16];
    EliasWriter to(bytes);
    elias_put(to, k);
    to.finish();
    EliasReader from(bytes);
    BOOST_TEST(elias_get(from, UINT64_MAX) == k);
    EliasReader again(bytes), table(bytes);
    BOOST_CHECK_THROW(elias_get(again, k - 1), Error);
    BOOST_CHECK_THROW(EliasTable::instance().get(table, EliasTable::kMost), Error);
  }
  std::byte bytes[16];
  EliasWriter to(bytes);
  BOOST_CHECK_THROW(elias_put(to, 0), Error);
}

template <class Get>
std::optional<uint64_t> next(EliasReader& from, const Get& get) {
  try {
    return get(from);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Whatever the bytes, both read the same numbers up to the same error, which comes at the latest at their end.
BOOST_AUTO_TEST_CASE(any_bytes) {
  Generator random(Stream(7).split("elias"));
  const EliasTable& table = EliasTable::instance();
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes(random.below(24));
    const bool ones = random.below(2) == 1;  // long groups
    for (std::byte& b : bytes) b = static_cast<std::byte>(ones ? random.next() | random.next() : random.next());
    const uint64_t most = i % 3 == 0 ? 1 + random.below(100) : EliasTable::kMost;
    EliasReader plain_reader(bytes), fast_reader(bytes);
    for (size_t numbers = 0;; ++numbers) {
      BOOST_REQUIRE(numbers <= 8 * bytes.size());
      const auto plain = next(plain_reader, [&](EliasReader& from) { return elias_get(from, most); });
      const auto fast = next(fast_reader, [&](EliasReader& from) { return table.get(from, most); });
      BOOST_REQUIRE((plain == fast));
      if (!plain) break;
      BOOST_REQUIRE(*plain >= 1);
      BOOST_REQUIRE(*plain <= most);
      BOOST_REQUIRE(plain_reader.bits_left() == fast_reader.bits_left());
    }
    ++refused;
  }
  BOOST_TEST(refused == 20'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
