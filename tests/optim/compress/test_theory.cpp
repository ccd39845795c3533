// What the paper proves, on vectors of several shapes: no bias, the exact variance and its bounds, how many values are
// not 0, how long the codes are. The paper's "2.8 n + 32 bits" leaves out a factor 1 + o(1): it is printed, and shown
// to be passed; what is required are bounds with their constants.
#include <cmath>
#include <numeric>

#include "optim/compress/elias.h"
#include "tests/optim/compress/message.h"

namespace {

using namespace tg;
using namespace tg::test;

struct Case {
  const char* shape;
  int64_t n, levels;
  const char* norm;
};

std::vector<float> vector_of(const Case& c) {
  std::vector<float> v = gaussian(c.n, 17, 1);
  Generator random(Stream(18).split("shape"));
  const std::string shape = c.shape;
  for (float& x : v) {
    if (shape == "laplace") x = static_cast<float>(std::log(random.uniform()) * (random.below(2) == 0 ? 1 : -1));
    if (shape == "uniform") x = static_cast<float>(2 * random.uniform() - 1);
    if (shape == "constant") x = random.below(2) == 0 ? 1.0f : -1.0f;
    if (shape == "few") x = random.below(20) == 0 ? x : 0.0f;
  }
  return v;
}

const std::vector<Case> kCases = {
    {"gaussian", 1024, 1, "l2"},    {"gaussian", 1024, 2, "l2"},   {"gaussian", 1024, 32, "l2"},
    {"gaussian", 16384, 128, "l2"}, {"laplace", 16384, 128, "l2"}, {"uniform", 16384, 128, "l2"},
    {"constant", 1024, 32, "l2"},   {"constant", 1024, 1, "l2"},   {"few", 1024, 4, "l2"},
    {"gaussian", 128, 1, "max"},    {"gaussian", 512, 7, "max"},   {"laplace", 512, 127, "max"},
};

// What the definition gives for a vector as one bucket.
struct Exact {
  explicit Exact(const Case& c) : v(vector_of(c)) {
    const auto s = static_cast<double>(c.levels);
    norm = bucket_norm(std::string(c.norm) == "l2" ? BucketNorm::l2 : BucketNorm::max, v.data(), c.n);
    for (const float x : v) {
      const double r = std::abs(double{x}) / norm * s, p = r - std::floor(r), step = norm / s;
      variances.push_back(step * step * p * (1 - p));
      square += double{x} * double{x};
      variance += variances.back();
      // The variance of one squared error: it is p^2 with probability 1 - p, else (1 - p)^2.
      const double q = p * (1 - p);
      variance_of_square += std::pow(step, 4) * (q * (p * p * p + std::pow(1 - p, 3)) - q * q);
      const double not_zero = std::min(r, 1.0);
      nonzeros += not_zero;
      variance_of_nonzeros += not_zero * (1 - not_zero);
    }
  }
  std::vector<float> v;
  std::vector<double> variances;
  double norm = 0, square = 0, variance = 0, variance_of_square = 0, nonzeros = 0, variance_of_nonzeros = 0;
};

std::string spec_of(const Case& c, const char* encoding) {
  return fmt::format("qsgd:levels={},bucket={},norm={},encoding={},min-elements=0", c.levels, c.n, c.norm, encoding);
}

constexpr int kDraws = 400;
Stream draw(int r) { return Stream(23).split("draw", static_cast<uint64_t>(r)); }

BOOST_AUTO_TEST_SUITE(theory)

BOOST_AUTO_TEST_CASE(unbiased_with_the_exact_variance) {
  for (const Case& c : kCases) {
    const Exact exact(c);
    const auto codec = test::codec(spec_of(c, "fixed"), flat_layout(c.n));
    std::vector<double> mean_error(exact.v.size());
    double square_error = 0, nonzeros = 0;
    for (int r = 0; r < kDraws; ++r) {
      const std::vector<float> out = sent(*codec, exact.v, draw(r));
      for (size_t i = 0; i < out.size(); ++i) {
        const double error = double{out[i]} - double{exact.v[i]};
        mean_error[i] += error / kDraws;
        square_error += error * error / kDraws;
        nonzeros += out[i] != 0 ? 1.0 / kDraws : 0;
      }
    }
    BOOST_TEST_CONTEXT(c.shape << " " << c.n << ", " << c.levels << " levels, " << c.norm) {
      // Along the values' signs, where rounding the wrong way would show, along the values, and along random signs.
      Generator random(Stream(29).split("direction"));
      for (int direction = 0; direction < 20; ++direction) {
        double along = 0, variance = 0;
        for (size_t i = 0; i < exact.v.size(); ++i) {
          const double weight = direction == 0   ? (exact.v[i] < 0 ? -1.0 : 1.0)
                                : direction == 1 ? double{exact.v[i]}
                                                 : (random.below(2) == 0 ? 1.0 : -1.0);
          along += weight * mean_error[i];
          variance += weight * weight * exact.variances[i] / kDraws;
        }
        // 16 random bits may move each mean by 2^-17 of a level.
        const double of_16_bits = exact.norm / static_cast<double>(c.levels) * 0x1p-17 * std::sqrt(exact.v.size());
        BOOST_TEST(std::abs(along) <= 5 * std::sqrt(variance) + of_16_bits);
      }
      BOOST_TEST(std::abs(square_error - exact.variance) <=
                 5 * std::sqrt(exact.variance_of_square / kDraws) + 1e-4 * exact.variance + 1e-12);
      BOOST_TEST(std::abs(nonzeros - exact.nonzeros) <= 5 * std::sqrt(exact.variance_of_nonzeros / kDraws) + 1e-2);
      const auto n = static_cast<double>(c.n), s = static_cast<double>(c.levels);
      if (std::string(c.norm) == "max") {
        BOOST_TEST(exact.variance <= n * exact.norm * exact.norm / (4 * s * s));
        continue;
      }
      BOOST_TEST(exact.variance <= std::min(n / (4 * s * s), std::sqrt(n) / s) * exact.square);
      BOOST_TEST(square_error <= std::min(n / (s * s), std::sqrt(n) / s) * exact.square);  // Lemma 3.1, (ii)
      BOOST_TEST(exact.nonzeros <= s * (s + std::sqrt(n)));                                // Lemma 3.1, (iii)
    }
  }
}

// Bits of a vector's message behind its norm, counted from the decoded levels: the message has as many, in whole bytes.
double bits_of(const Case& c, const Exact& exact, const char* encoding, int r) {
  const auto codec = test::codec(spec_of(c, encoding), flat_layout(c.n));
  const Bytes bytes = encoded(*codec, view_of(exact.v), draw(r));
  const std::vector<float> out = decoded(*codec, bytes, c.n);
  int64_t bits = 0;
  size_t before = 0;
  const bool sparse = encoding == std::string("elias-sparse");
  for (size_t i = 0; i < out.size(); ++i) {
    const auto level =
        static_cast<uint64_t>(std::llround(std::abs(double{out[i]}) / exact.norm * static_cast<double>(c.levels)));
    if (!sparse) bits += elias_bits(level + 1) + (level > 0 ? 1 : 0);
    if (!sparse || level == 0) continue;
    bits += elias_bits(i + 1 - before) + 1 + elias_bits(level);
    before = i + 1;
  }
  if (sparse) bits += elias_bits(out.size() + 1 - before);
  BOOST_REQUIRE(std::ssize(bytes) == 4 + (bits + 7) / 8);
  return static_cast<double>(bits);
}

BOOST_AUTO_TEST_CASE(lengths_of_the_codes) {
  constexpr int kMessages = 10;
  for (const Case& c : kCases) {
    if (std::string(c.norm) != "l2") continue;
    const Exact exact(c);
    const auto n = static_cast<double>(c.n), s = static_cast<double>(c.levels);
    double sparse = 0, dense = 0;
    for (int r = 0; r < kMessages; ++r) {
      sparse += bits_of(c, exact, "elias-sparse", r);
      dense += bits_of(c, exact, "elias-dense", r);
    }
    sparse /= kMessages;
    dense /= kMessages;
    BOOST_TEST_MESSAGE(fmt::format("{} {}, {} levels: dense {:.2f} bits a value (2.8 + 32/n: {:.2f}), sparse {:.3f}",
                                   c.shape, c.n, c.levels, dense / n, 2.8 + 32 / n, sparse / n));
    BOOST_TEST_CONTEXT(c.shape << " " << c.n << ", " << c.levels << " levels") {
      // Theorem 3.2 with its o(1) taken as 0; proven for s >= 2, and it holds for these at s = 1 too.
      const double ones = s * (s + std::sqrt(n));
      BOOST_TEST(sparse + 32 <= (3 + 1.5 * std::log2(2 * (s * s + n) / ones)) * ones + 32);
      // |omega(k)| <= 1 + 2.5 log2(k), Jensen's inequality and E sum z^2 <= 2 n.
      if (s * s <= n) BOOST_TEST(dense + 32 <= 32 + (2 + 1.25 * std::log2(6)) * n);
      if (s * s != n) continue;
      // Corollary 3.3 says 2.8 n + 32, up to the o(1).
      const std::string shape = c.shape;
      if (shape == "gaussian" || shape == "uniform") BOOST_TEST(dense > 2.8 * n + 32);
      if (shape == "laplace") BOOST_TEST(dense < 2.8 * n);
      if (shape == "constant") BOOST_TEST(dense == 4 * n);
    }
  }
}

double correlation(const std::vector<double>& a, const std::vector<double>& b, size_t shift = 0) {
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i + shift < a.size(); ++i) {
    ab += a[i] * b[i + shift];
    aa += a[i] * a[i];
    bb += b[i + shift] * b[i + shift];
  }
  return ab / std::sqrt(aa * bb);
}

// Errors that are not independent do not average out over workers.
BOOST_AUTO_TEST_CASE(errors_are_not_correlated) {
  constexpr int64_t n = 1 << 19;
  Layout layout;
  layout.add("one", {n});
  layout.add("other", {n});
  std::vector<float> v = gaussian(n);
  v.insert(v.end(), v.begin(), v.end());  // twice the same tensor
  const auto codec = test::codec("qsgd-4bit", layout);
  const auto errors = [&](uint64_t worker, uint64_t step) {
    const Stream stream = Stream(1).split("worker", worker).split("step", step).split("codec_up");
    const std::vector<float> out = sent(*codec, v, stream);
    std::vector<double> e(out.size());
    for (size_t i = 0; i < e.size(); ++i) e[i] = double{out[i]} - double{v[i]};
    return e;
  };
  const std::vector<double> first = errors(0, 0);
  BOOST_TEST(std::abs(correlation(first, errors(1, 0))) < 0.01);
  BOOST_TEST(std::abs(correlation(first, errors(0, 1))) < 0.01);
  BOOST_TEST(std::abs(correlation(first, first, n)) < 0.01);  // the tensors
  for (const size_t shift : {1, 2, 15, 16, 32, 127, 128, 512})
    BOOST_TEST(std::abs(correlation(first, first, shift)) < 0.01);
  BOOST_TEST(correlation(first, errors(0, 0)) > 0.999);  // the same draws
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
