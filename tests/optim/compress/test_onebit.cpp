// 1-bit SGD: signs and two means per column, against a plain reading of it; its error feedback, and its warm start.
#include <cfloat>
#include <cmath>

#include "optim/compress/onebit.h"
#include "tests/optim/compress/message.h"
#include "tests/optim/compress/state.h"

namespace {

using namespace tg;
using namespace tg::test;

const Stream kStream = Stream(4).split("codec_up");
const std::string kAlone = "onebit:min-elements=0,error-feedback=false";

std::vector<float> with_means(const std::vector<float>& v, int64_t column) {
  std::vector<float> out(v.size());
  for (size_t first = 0; first < v.size(); first += static_cast<size_t>(column)) {
    double below = 0, above = 0, negatives = 0;
    for (size_t i = first; i < first + static_cast<size_t>(column); ++i) {
      (v[i] < 0 ? below : above) += double{v[i]};
      if (v[i] < 0) ++negatives;
    }
    for (size_t i = first; i < first + static_cast<size_t>(column); ++i)
      out[i] = static_cast<float>(v[i] < 0 ? below / negatives : above / (static_cast<double>(column) - negatives));
  }
  return out;
}

void require_near(const std::vector<float>& a, const std::vector<float>& b) {
  BOOST_REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) BOOST_REQUIRE(std::abs(double{a[i]} - double{b[i]}) <= 2e-7 * std::abs(b[i]));
}

BOOST_AUTO_TEST_SUITE(onebit)

BOOST_AUTO_TEST_CASE(lengths) {
  for (const int64_t n : {0, 1, 31, 32, 33, 511, 512, 513, 4095, 4096, 4097, 10'000}) {
    BOOST_TEST_CONTEXT(n << " values") {
      const std::vector<float> v = gaussian(n);
      const auto c = codec(kAlone, flat_layout(n));
      const Bytes bytes = encoded(*c, view_of(v), kStream);
      BOOST_TEST(std::ssize(bytes) == (n == 0 ? 0 : 8 + (n + 7) / 8));
      BOOST_TEST(std::ssize(bytes) == c->max_encoded_bytes(0, n));
      require_near(decoded(*c, bytes, n), with_means(v, n));
      // Deterministic: no stream, and no state.
      BOOST_TEST((bytes == encoded(*c, view_of(v), Stream(99))));
    }
  }
}

// A column is what shares the first index.
BOOST_AUTO_TEST_CASE(columns) {
  struct Case {
    Shape shape;
    int64_t column;
  };
  for (const auto& [shape, column] :
       {Case{{6, 35}, 35}, Case{{5, 3, 3, 7}, 63}, Case{{1, 64}, 64}, Case{{40, 1}, 1}, Case{{77}, 77}, Case{{}, 1}}) {
    Layout layout;
    layout.add("w", shape);
    const int64_t n = shape.count(), columns = n / column;
    const std::vector<float> v = gaussian(n);
    const auto c = codec(kAlone, layout);
    BOOST_TEST(c->max_encoded_bytes(0, n) == columns * (8 + (column + 7) / 8));
    require_near(sent(*c, v, kStream), with_means(v, column));
    // It can be cut between columns only.
    if (columns > 1 && column > 1) {
      const Bytes part = encoded(*c, view_of(v).part(column, 2 * column), kStream, column);
      require_near(decoded(*c, part, 2 * column, column),
                   with_means({v.begin() + column, v.begin() + 3 * column}, column));
      BOOST_CHECK_THROW(c->max_encoded_bytes(0, column + 1), Error);
    }
  }
}

BOOST_AUTO_TEST_CASE(values_at_the_ends) {
  const auto of = [](const std::vector<float>& v) {
    return sent(*codec(kAlone, flat_layout(std::ssize(v))), v, kStream);
  };
  BOOST_TEST(same_bits(of({0, 0, 0, 0, 0}), {0, 0, 0, 0, 0}));
  BOOST_TEST(same_bits(of({-0.0f, 0, -0.0f}), {0, 0, 0}));
  BOOST_TEST(same_bits(of({1, 2, 3, 0}), {1.5f, 1.5f, 1.5f, 1.5f}));
  BOOST_TEST(same_bits(of({-1, -2, -3, -6}), {-3, -3, -3, -3}));
  BOOST_TEST(same_bits(of({-0.0f, -2, 4}), {2, -2, 2}));
  BOOST_TEST(same_bits(of({-3.7f}), {-3.7f}));
  BOOST_TEST(same_bits(of({FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX}), {FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX}));
  BOOST_TEST(same_bits(of({-FLT_TRUE_MIN, FLT_TRUE_MIN}), {-FLT_TRUE_MIN, FLT_TRUE_MIN}));
  BOOST_TEST(same_bits(of({FLT_TRUE_MIN, 0, 0}), {0, 0, 0}));  // a mean below half the least float32
}

// A row of an embedding that was not used.
BOOST_AUTO_TEST_CASE(a_column_of_zeros_stays_so) {
  Layout layout;
  layout.add("embedding", {4, 300});
  std::vector<float> v = gaussian(1200);
  std::fill_n(v.begin() + 600, 300, 0.0f);
  const auto c = codec("onebit", layout);
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> out = sent(*c, v, kStream);
    for (size_t k = 600; k < 900; ++k) BOOST_REQUIRE(out[k] == 0);
    BOOST_TEST(out[0] != 0);
  }
}

BOOST_AUTO_TEST_CASE(values_that_have_no_code) {
  Layout layout;
  layout.add("a", {2, 8});
  layout.add("fc.weight", {3, 5000});
  for (const float bad : {INFINITY, -INFINITY, NAN, -NAN}) {
    std::vector<float> v = gaussian(layout.size());
    v[16 + 9500] = bad;
    for (const std::string& spec : {kAlone, std::string("onebit")}) {
      const std::string refusal = message_of([&] { encoded(*codec(spec, layout), view_of(v), kStream); });
      BOOST_TEST(contains(refusal, "codec onebit: element 9500 of fc.weight is"), refusal);
    }
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_no_encoder_writes) {
  const auto bytes = [](float below, float above, std::vector<int> signs) {
    Bytes all(8);
    std::memcpy(all.data(), &below, 4);
    std::memcpy(all.data() + 4, &above, 4);
    for (const int b : signs) all.push_back(static_cast<std::byte>(b));
    return all;
  };
  const auto c = codec(kAlone, flat_layout(9));
  BOOST_TEST(same_bits(decoded(*c, bytes(-2, 3, {0x81, 1}), 9), {-2, 3, 3, 3, 3, 3, 3, -2, -2}));
  BOOST_TEST(same_bits(decoded(*c, bytes(0, 3, {0, 0}), 9), std::vector<float>(9, 3)));
  BOOST_TEST(same_bits(decoded(*c, bytes(-2, 0, {0xff, 1}), 9), std::vector<float>(9, -2)));
  for (const Bytes& bad : {
           bytes(-2, 3, {0x81, 3}),      // the last byte is not filled with zeros
           bytes(-2, 3, {0, 0}),         // a mean of no values
           bytes(-0.0f, 3, {0, 0}),      //
           bytes(-2, 3, {0xff, 1}),      //
           bytes(-2, -0.0f, {0xff, 1}),  //
           bytes(2, 3, {0x81, 1}),       // above 0
           bytes(0, 3, {0x81, 1}),       //
           bytes(-2, -3, {0x81, 1}),     // below 0
           bytes(-2, -0.0f, {0x81, 1}),  //
           bytes(-INFINITY, 3, {0x81, 1}),
           bytes(-2, INFINITY, {0x81, 1}),
           bytes(NAN, 3, {0x81, 1}),
           bytes(-2, NAN, {0x81, 1}),
           bytes(-2, 3, {0x81}),
           bytes(-2, 3, {0x81, 1, 0}),
       })
    BOOST_CHECK_THROW(decoded(*c, bad, 9), Error);
}

// As the original: the name alone has error feedback.
BOOST_AUTO_TEST_CASE(it_comes_with_error_feedback) {
  const std::vector<float> v = gaussian(2000);
  const auto c = codec("onebit", flat_layout(2000));
  const std::vector<float> first = sent(*c, v, kStream);
  require_near(first, with_means(v, 2000));
  std::vector<float> p(2000);
  for (size_t i = 0; i < p.size(); ++i) p[i] = v[i] + (v[i] - first[i]);
  require_near(sent(*c, v, kStream), with_means(p, 2000));
  BOOST_TEST(c->describe() ==
             "onebit: 2000 of 2000 values in a sign each and two means per column; float32: none; "
             "error feedback");
  BOOST_TEST(!contains(codec("onebit:error-feedback=false", flat_layout(2000))->describe(), "feedback"));
}

BOOST_AUTO_TEST_CASE(warm_start) {
  const auto warm = codec("onebit:warm-start=3", flat_layout(2000)), cold = codec("onebit", flat_layout(2000));
  const auto next = [](Codec& c, uint64_t step) { return encoded(c, view_of(gaussian(2000, step)), kStream); };
  BOOST_TEST(warm->max_encoded_bytes(0, 2000) == 8001);
  BOOST_TEST(contains(warm->describe(), "error feedback; the first 3 messages float32"));
  for (const uint64_t step : {1, 2, 3}) {
    const Bytes bytes = next(*warm, step);
    BOOST_REQUIRE(bytes.size() == 8001);
    BOOST_TEST((bytes[0] == std::byte{0}));
    BOOST_TEST(same_bits(decoded(*warm, bytes, 2000), gaussian(2000, step)));
  }
  warm->not_taken();  // does not count
  BOOST_TEST(next(*warm, 4).size() == 8001u);
  State state;
  warm->save(state);
  for (const uint64_t step : {5, 6, 7}) {
    Bytes expected = next(*cold, step);
    expected.insert(expected.begin(), std::byte{1});
    BOOST_TEST((next(*warm, step) == expected));
    if (step != 6) continue;
    warm->not_taken();
    cold->not_taken();
  }
  const auto loaded = codec("onebit:warm-start=3", flat_layout(2000));
  BOOST_TEST(next(*loaded, 9).size() == 8001u);
  loaded->load(state);
  BOOST_TEST(next(*loaded, 5).size() == 1u + 8 + 250);
  // A message that is neither.
  BOOST_CHECK_THROW(decoded(*warm, Bytes(8001, std::byte{2}), 2000), Error);
  BOOST_CHECK_THROW(decoded(*warm, {}, 2000), Error);
  BOOST_CHECK_THROW(warm->encode(view_of(gaussian(2000)), 0, kStream, {}), Error);
  BOOST_CHECK_THROW(codec("onebit:warm-start=-1", flat_layout(9)), Error);
}

// The parts of one message are written alike.
BOOST_AUTO_TEST_CASE(warm_start_by_shards) {
  Layout layout;
  layout.add("a", {2, 512});
  layout.add("b", {2048});
  const auto c = codec("onebit:warm-start=1", layout);
  const std::vector<float> v = gaussian(layout.size());
  for (const std::byte kind : {std::byte{0}, std::byte{1}})
    for (const auto& [first, count] : {std::pair<int64_t, int64_t>{0, 1024}, {1024, 2048}})
      BOOST_TEST((encoded(*c, view_of(v).part(first, count), kStream, first)[0] == kind));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
