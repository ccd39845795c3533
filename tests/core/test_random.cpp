#include <Random123/philox.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "framework/core/error.h"
#include "framework/core/random.h"

using namespace tg;

BOOST_AUTO_TEST_SUITE(random_numbers)

// Random123's kat_vectors, philox4x32 with 10 rounds.
BOOST_AUTO_TEST_CASE(blocks_are_philox_known_answers) {
  const std::array<uint32_t, 4> zeros{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  BOOST_TEST(Stream(0).bits(0) == zeros, boost::test_tools::per_element());

  const r123::Philox4x32::ctr_type pi = {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
  const r123::Philox4x32::ukey_type key = {{0xa4093822, 0x299f31d0}};
  const r123::Philox4x32::ctr_type expected = {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
  BOOST_TEST((r123::Philox4x32{}(pi, key) == expected));

  const r123::Philox4x32::ctr_type half = {{pi[0], pi[1], 0, 0}};
  const auto block = r123::Philox4x32{}(half, key);
  BOOST_TEST(Stream(0x299f31d0a4093822).bits(0x85a308d3243f6a88) == block, boost::test_tools::per_element());
}

// The key of a part, recomputed from its description in random.h.
BOOST_AUTO_TEST_CASE(split_keys_are_as_described) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : {'w', 'o', 'r', 'k', 'e', 'r', '\0'})
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  const r123::Philox4x32::ctr_type counter = {
      {static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32), 3, 0x80000000}};
  const auto block = r123::Philox4x32{}(counter, r123::Philox4x32::ukey_type{{1, 0}});
  BOOST_TEST(Stream(1).split("worker", 0x8000000000000003).key() == (block[0] | uint64_t{block[1]} << 32));

  BOOST_TEST(Stream(1).split("init").key() == 0xbc13f565defe7024);
  BOOST_TEST(Stream(1).split("init", 0).key() == 0x147bca84c2ee0375);
  BOOST_TEST(Stream(1).split("worker", 3).split("dropout").key() == 0x8ce405cc5d682262);
}

BOOST_AUTO_TEST_CASE(parts_of_a_stream_differ) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (const char* name : {"", "a", "b", "ab", "ba"}) {
      keys.insert(Stream(seed).split(name).key());
      for (uint64_t number = 0; number < 20; ++number) keys.insert(Stream(seed).split(name, number).key());
    }
  BOOST_TEST(keys.size() == 20u * 5 * 21);
  BOOST_TEST(Stream(1).split("a").split("b").key() != Stream(1).split("b").split("a").key());
}

BOOST_AUTO_TEST_CASE(values_are_golden) {
  const Stream stream(7);
  BOOST_TEST(stream.uniform(0) == 0x1.e8c0f4p-1f);
  BOOST_TEST(stream.uniform(5) == 0x1.972f78p-1f);
  BOOST_TEST(stream.uniform(uint64_t{1} << 40) == 0x1.555152p-1f);
  BOOST_TEST(stream.normal(0) == 0x1.31bb08p-12f);
  BOOST_TEST(stream.normal(1) == 0x1.c9ecp+0f);
  BOOST_TEST(stream.normal(uint64_t{1} << 40) == 0x1.f5695p-2f);
}

BOOST_AUTO_TEST_CASE(many_uniforms_at_once) {
  const Stream stream = Stream(7).split("many");
  for (const uint64_t first : {uint64_t{0}, uint64_t{12}, (uint64_t{1} << 34) - 8})
    for (const int64_t count : {0, 1, 3, 4, 17, 64}) {
      std::vector<float> values(static_cast<size_t>(count) + 1, -1);
      stream.uniforms(first, count, values.data());
      for (int64_t i = 0; i < count; ++i)
        BOOST_TEST(values[static_cast<size_t>(i)] == stream.uniform(first + static_cast<uint64_t>(i)));
      BOOST_TEST(values.back() == -1);
    }
  float value = 0;
  BOOST_CHECK_THROW(stream.uniforms(2, 1, &value), Error);
}

BOOST_AUTO_TEST_CASE(a_generator_goes_through_its_stream) {
  const Stream stream(7);
  Generator generator(stream);
  for (uint64_t i = 0; i < 40; ++i) BOOST_TEST(generator.next() == stream.bits(i / 4)[i % 4]);
  Generator copy = generator;
  BOOST_TEST(copy.next() == generator.next());
  BOOST_TEST(copy.uniform() == generator.uniform());
}

struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0;
};

template <class Draw>
Moments moments(int draws, const Draw& draw) {
  double sum = 0, squares = 0, least = 1e300, most = -1e300;
  for (int i = 0; i < draws; ++i) {
    const double x = draw(i);
    sum += x, squares += x * x;
    least = std::min(least, x), most = std::max(most, x);
  }
  const double mean = sum / draws;
  return {mean, std::sqrt(squares / draws - mean * mean), least, most};
}

// The bounds are five standard errors.
BOOST_AUTO_TEST_CASE(moments_are_those_of_the_distributions) {
  constexpr int n = 200'000;
  const double root = std::sqrt(n);
  const Stream stream(3);
  Generator generator(stream.split("generator"));

  const double uniform_deviation = std::sqrt(1.0 / 12);
  for (const Moments& m : {moments(n, [&](int i) { return stream.uniform(static_cast<uint64_t>(i)); }),
                           moments(n, [&](int) { return generator.uniform(); })}) {
    BOOST_TEST(std::abs(m.mean - 0.5) < 5 * uniform_deviation / root);
    BOOST_TEST(std::abs(m.deviation - uniform_deviation) < 5 * 0.13 / root);  // sd of the sd: sqrt(1/180)/(2 sd)
    BOOST_TEST((m.least >= 0 && m.least < 1e-4 && m.most < 1 && m.most > 1 - 1e-4));
  }
  for (const Moments& m : {moments(n, [&](int i) { return stream.normal(static_cast<uint64_t>(i)); }),
                           moments(n, [&](int) { return generator.normal(); })}) {
    BOOST_TEST(std::abs(m.mean) < 5 / root);
    BOOST_TEST(std::abs(m.deviation - 1) < 5 * std::sqrt(0.5) / root);
    BOOST_TEST((m.least < -3.5 && m.most > 3.5));
  }
  // Gamma(k, theta): mean k theta, variance k theta^2; kurtosis 3 + 6/k gives the error of the deviation.
  for (const double shape : {1.0, 1 / 0.36, 100.0}) {
    const Moments m = moments(n, [&](int) { return generator.gamma(shape, 1.28); });
    const double deviation = std::sqrt(shape) * 1.28;
    BOOST_TEST(std::abs(m.mean - shape * 1.28) < 5 * deviation / root);
    BOOST_TEST(std::abs(m.deviation - deviation) < 5 * deviation * std::sqrt((2 + 6 / shape) / 4) / root);
    BOOST_TEST(m.least > 0);
  }
}

// Gamma(1, 1) is the exponential distribution: P(x > t) = exp(-t).
BOOST_AUTO_TEST_CASE(gamma_tails_are_right) {
  constexpr int n = 100'000;
  Generator generator(Stream(11));
  std::array<int, 4> above{};
  for (int i = 0; i < n; ++i) {
    const double x = generator.gamma(1, 1);
    for (size_t t = 0; t < above.size(); ++t) above[t] += x > static_cast<double>(t) + 0.5;
  }
  for (size_t t = 0; t < above.size(); ++t) {
    const double p = std::exp(-static_cast<double>(t) - 0.5);
    BOOST_TEST(std::abs(above[t] / double{n} - p) < 5 * std::sqrt(p * (1 - p) / n));
  }
}

BOOST_AUTO_TEST_CASE(below_is_uniform_and_inside) {
  constexpr int n = 70'000;
  Generator generator(Stream(5));
  std::vector<int> counts(7);
  for (int i = 0; i < n; ++i) ++counts.at(generator.below(7));
  for (const int count : counts) BOOST_TEST(std::abs(count - n / 7) < 5 * std::sqrt(n / 7.0));

  BOOST_TEST(generator.below(1) == 0u);
  // Three quarters of all 64-bit numbers: a plain remainder would give the lowest 2^62 twice as often.
  const uint64_t bound = (uint64_t{1} << 63) + (uint64_t{1} << 62);
  int low = 0;
  for (int i = 0; i < n; ++i) {
    const uint64_t value = generator.below(bound);
    BOOST_REQUIRE(value < bound);
    low += value < bound / 2;
  }
  BOOST_TEST(std::abs(low - n / 2) < 5 * std::sqrt(n / 4.0));
}

BOOST_AUTO_TEST_CASE(impossible_distributions_are_refused) {
  Generator generator(Stream(1));
  BOOST_CHECK_THROW(generator.below(0), Error);
  BOOST_CHECK_THROW(generator.gamma(0.5, 1), Error);
  BOOST_CHECK_THROW(generator.gamma(2, 0), Error);
  BOOST_CHECK_THROW(generator.gamma(NAN, 1), Error);
}

BOOST_AUTO_TEST_SUITE_END()
