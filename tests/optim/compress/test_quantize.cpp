// The quantiser: its random numbers, all 65,536 outcomes of one value, and the values that must come back as they were.
#include <cfloat>
#include <cmath>
#include <set>

#include "optim/compress/bits.h"
#include "optim/compress/quantize.h"
#include "optim/compress/uniform16.h"
#include "tests/optim/compress/message.h"

namespace {

using namespace tg;
using namespace tg::test;

BOOST_AUTO_TEST_SUITE(quantizer)

BOOST_AUTO_TEST_CASE(uniforms_are_a_function_of_the_element) {
  const Stream stream = Stream(11).split("codec");
  for (const int64_t tensor : {int64_t{0}, int64_t{16}, int64_t{1} << 33, (int64_t{1} << 32) - 16}) {
    std::vector<uint16_t> fast(5 * kUniformGroup);
    uniforms16(stream, tensor, 3 * kUniformGroup, 5, fast.data());
    for (int64_t i = 0; i < std::ssize(fast); ++i)
      BOOST_REQUIRE(fast[static_cast<size_t>(i)] == uniform16(stream, tensor, 3 * kUniformGroup + i));
  }
  // Philox 4x32-7 of counter 0 under key 0, from the published known answers.
  const uint32_t words[4] = {0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48};
  for (int64_t row = 0; row < 8; ++row)
    BOOST_TEST(uniform16(Stream(0), 0, 16 * row) == (words[row / 2] >> (row % 2 * 16) & 0xffff));
}

// Neighbouring tensors, streams and elements: no two share their random numbers.
BOOST_AUTO_TEST_CASE(uniforms_are_not_used_twice) {
  const Stream stream = Stream(11).split("codec");
  std::set<uint64_t> seen;  // four neighbours in a row as one number
  int64_t windows = 0;
  const auto look = [&](const Stream& s, int64_t tensor, int64_t count) {
    for (int64_t i = 0; i + 3 < count; i += 4, ++windows) {
      uint64_t four = 0;
      for (int64_t k = 0; k < 4; ++k) four = four << 16 | uniform16(s, tensor, i + k);
      seen.insert(four);
    }
  };
  look(stream, 0, 1000);
  look(stream, 1008, 50);  // where the first ends
  look(stream, 1072, 200);
  look(Stream(11).split("codec", 1), 0, 1000);
  BOOST_TEST(std::ssize(seen) == windows);
}

BOOST_AUTO_TEST_CASE(uniforms_are_uniform) {
  std::vector<uint16_t> u(1 << 20);
  uniforms16(Stream(1), 0, 0, std::ssize(u) / kUniformGroup, u.data());
  std::vector<double> cells(256), low(256);
  for (const uint16_t x : u) {
    ++cells[x >> 8];
    ++low[x & 255];
  }
  const double expected = static_cast<double>(u.size()) / 256;
  for (const auto& counts : {cells, low}) {
    double chi2 = 0;
    for (const double c : counts) chi2 += (c - expected) * (c - expected) / expected;
    BOOST_TEST(std::abs(chi2 - 255) < 5 * std::sqrt(2.0 * 255));
  }
}

// The mean over every 16-bit number is the value to within 2^-17 of a level, which is what 16 bits cost; a value on a
// level is never moved.
BOOST_AUTO_TEST_CASE(the_mean_over_all_random_numbers) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  double largest = 0, sum = 0;
  int values = 0;
  for (const int64_t levels : {1, 2, 7, 127, 1000}) {
    for (const float norm : {1.0f, 0.7f, 3e-42f, 1e38f}) {
      const BucketScale scale(norm, levels);
      for (double r = 0.01; r < static_cast<double>(levels); r *= 1.9) {
        const auto v = static_cast<float>(-r / static_cast<double>(levels) * double{norm});
        const std::vector<float> same(all.size(), v);
        std::vector<uint16_t> codes(all.size());
        quantize(scale, same.data(), all.data(), std::ssize(all), codes.data());
        double mean = 0;
        const uint32_t sign = 1u << (code_bits(levels) - 1);
        for (const uint32_t code : codes) {
          BOOST_REQUIRE(((code & sign) != 0) == ((code & (sign - 1)) != 0));
          mean += (code & (sign - 1)) / 65536.0;
        }
        const double exact = std::abs(double{v}) / double{norm} * static_cast<double>(levels);
        const double float_error = exact * 3 * FLT_EPSILON;
        BOOST_REQUIRE(std::abs(mean - exact) <= 0x1p-17 + float_error + 1e-12);
        largest = std::max(largest, std::abs(mean - exact) - float_error);
        sum += mean - exact;
        ++values;
      }
    }
  }
  BOOST_TEST(largest > 0x1p-19);  // it is there
  BOOST_TEST(std::abs(sum / values) < 0x1p-18);
  for (const int64_t levels : {1, 7, 127}) {
    const BucketScale scale(static_cast<float>(levels), levels);
    for (int64_t level = 0; level <= levels; ++level) {
      const std::vector<float> same(all.size(), static_cast<float>(level));
      std::vector<uint8_t> codes(all.size());
      quantize(scale, same.data(), all.data(), std::ssize(all), codes.data());
      BOOST_REQUIRE(std::all_of(codes.begin(), codes.end(), [&](uint8_t c) { return c == level; }));
    }
  }
}

BOOST_AUTO_TEST_CASE(norms) {
  const std::vector<float> v = {3, -4, 0, 0};
  BOOST_TEST(bucket_norm(BucketNorm::l2, v.data(), 4) == 5);
  BOOST_TEST(bucket_norm(BucketNorm::max, v.data(), 4) == 4);  // the largest magnitude is negative
  for (const float x : {FLT_MAX, FLT_MIN, FLT_TRUE_MIN, 1.1f, -0.3f, 1e-30f, 1e30f})
    for (const BucketNorm norm : {BucketNorm::l2, BucketNorm::max}) BOOST_TEST(bucket_norm(norm, &x, 1) == std::abs(x));
  // Summed in double: in float32 this would be 1 % off.
  const std::vector<float> many(1 << 24, 1.0f / 3);
  BOOST_TEST(std::abs(bucket_norm(BucketNorm::l2, many.data(), std::ssize(many)) - 4096.0f / 3) < 1e-3f);
  for (const float bad : {INFINITY, -INFINITY, NAN, -NAN}) {
    std::vector<float> with = gaussian(100);
    with[37] = bad;
    for (const BucketNorm norm : {BucketNorm::l2, BucketNorm::max})
      BOOST_TEST(!std::isfinite(bucket_norm(norm, with.data(), 100)));
  }
}

template <class Code>
void packing() {
  Generator random(Stream(2).split("codes"));
  for (int bits = 2; bits <= static_cast<int>(8 * sizeof(Code)); ++bits) {
    for (int64_t n = 0; n <= 70; ++n) {
      std::vector<Code> codes(static_cast<size_t>(n)), back(codes);
      for (Code& c : codes) c = static_cast<Code>(random.next() & ((1u << bits) - 1));
      Bytes bytes(static_cast<size_t>((n * bits + 7) / 8)), expected(bytes);
      pack(codes.data(), n, bits, bytes.data());
      BitWriter<BitOrder::low_first> writer(expected);
      for (const Code c : codes) writer.put(c, bits);
      writer.finish();
      BOOST_REQUIRE((bytes == expected));
      BOOST_REQUIRE(unpack(bytes.data(), n, bits, back.data()));
      BOOST_REQUIRE((back == codes));
      if (n * bits % 8 == 0) continue;
      bytes.back() |= std::byte{0x80};
      BOOST_REQUIRE(!unpack(bytes.data(), n, bits, back.data()));
    }
  }
}

BOOST_AUTO_TEST_CASE(packed_words) {
  packing<uint8_t>();
  packing<uint16_t>();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
