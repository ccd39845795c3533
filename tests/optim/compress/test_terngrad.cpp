// TernGrad is QSGD with one level, the max norm and a bucket for each tensor; and what clipping does to it.
#include <cfloat>
#include <cmath>

#include "optim/compress/terngrad.h"
#include "tests/optim/compress/message.h"

namespace {

using namespace tg;
using namespace tg::test;

const Stream kStream = Stream(4).split("codec_up");

Layout two_tensors() {
  Layout layout;
  layout.add("fc.weight", {40, 50});
  layout.add("fc.bias", {40});
  layout.add("out.weight", {1025});
  return layout;
}

// The fast form's message, which must be that of the plain one, as both decode it.
std::vector<float> sent_by_both(const std::string& spec, const Layout& layout, const std::vector<float>& v) {
  const auto fast = codec(spec, layout);
  const auto plain = make_plain_qsgd_codec(layout, terngrad_options(Spec::parse(spec, codec_infos(), "codec")));
  const Bytes bytes = encoded(*fast, view_of(v), kStream);
  BOOST_REQUIRE((bytes == encoded(*plain, view_of(v), kStream)));
  const std::vector<float> out = decoded(*fast, bytes, std::ssize(v));
  if (!v.empty()) BOOST_REQUIRE(same_bits(out, decoded(*plain, bytes, std::ssize(v))));
  return out;
}

double deviation(const std::vector<float>& v) {
  double sum = 0;
  for (const float x : v) sum += double{x} * double{x};
  return std::sqrt(sum / static_cast<double>(v.size()));
}

BOOST_AUTO_TEST_SUITE(terngrad)

BOOST_AUTO_TEST_CASE(without_clipping_it_is_qsgd_with_one_level) {
  const Layout layout = two_tensors();
  const std::vector<float> v = gaussian(layout.size());
  for (const char* keep : {"min-elements=0", "min-elements=1024", "keep-fp32=out.*"}) {
    const auto tern = codec(fmt::format("terngrad:{}", keep), layout);
    const auto one_level = codec(fmt::format("qsgd:levels=1,norm=max,bucket=1000000000,{}", keep), layout);
    BOOST_TEST((encoded(*tern, view_of(v), kStream) == encoded(*one_level, view_of(v), kStream)), keep);
  }
  // A tensor that is one bucket of qsgd-2bit.
  const std::vector<float> bucket = gaussian(128);
  BOOST_TEST((encoded(*codec("terngrad:min-elements=0", flat_layout(128)), view_of(bucket), kStream) ==
              encoded(*codec("qsgd-2bit:min-elements=0", flat_layout(128)), view_of(bucket), kStream)));
}

BOOST_AUTO_TEST_CASE(lengths) {
  for (const char* spec :
       {"terngrad:min-elements=0", "terngrad:min-elements=0,clip=2.5", "terngrad:min-elements=0,clip=0.01"})
    for (const int64_t n : {0, 1, 31, 32, 33, 511, 512, 513, 4096, 10'000}) {
      BOOST_TEST_CONTEXT(spec << ", " << n << " values") {
        const std::vector<float> v = gaussian(n);
        const std::vector<float> out = sent_by_both(spec, flat_layout(n), v);
        const double clip = terngrad_options(Spec::parse(spec, codec_infos(), "codec")).clip;
        float scale = 0;
        for (const float x : v) scale = std::max(scale, std::abs(x));
        if (clip > 0) scale = std::min(scale, static_cast<float>(clip * deviation(v)));
        for (size_t i = 0; i < v.size(); ++i) {
          if (out[i] == 0) continue;
          BOOST_REQUIRE(std::abs(std::abs(out[i]) / scale - 1) < 1e-6);
          BOOST_REQUIRE(out[i] * v[i] > 0);
        }
        BOOST_TEST(codec(spec, flat_layout(n))->max_encoded_bytes(0, n) == (n == 0 ? 0 : 4 + (n + 3) / 4));
      }
    }
}

// Values beyond the cut are sent for certain; the others keep their mean.
BOOST_AUTO_TEST_CASE(clipping) {
  std::vector<float> v = gaussian(2000);
  v[7] = 5;
  v[8] = -3;
  const double cut = 2.5 * deviation(v);
  BOOST_REQUIRE(cut < 3);
  const auto c = codec("terngrad:clip=2.5", flat_layout(2000));
  const auto kept = codec("terngrad", flat_layout(2000));
  constexpr int kDraws = 4000;
  double sum = 0, of_the_small = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<float> out = sent(*c, v, kStream.split("draw", static_cast<uint64_t>(i)));
    BOOST_REQUIRE(std::abs(double{out[7]} / cut - 1) < 1e-6);
    BOOST_REQUIRE(out[8] == -out[7]);
    sum += out[9];
    of_the_small = v[9];
  }
  const double p = std::abs(of_the_small) / cut, sigma = cut * std::sqrt(p * (1 - p) / kDraws);
  BOOST_TEST(std::abs(sum / kDraws - of_the_small) < 5 * sigma);
  // Nothing lies beyond a cut that is far enough away: the same bytes as without.
  BOOST_TEST((encoded(*codec("terngrad:clip=1000", flat_layout(2000)), view_of(v), kStream) ==
              encoded(*kept, view_of(v), kStream)));
  // Equal values have no deviation from their mean, but from 0.
  const std::vector<float> same(2000, -0.25f);
  BOOST_TEST(same_bits(sent(*c, same, kStream), same));
}

BOOST_AUTO_TEST_CASE(values_at_the_ends) {
  for (const char* spec : {"terngrad:min-elements=0", "terngrad:min-elements=0,clip=2.5"}) {
    BOOST_TEST(same_bits(sent_by_both(spec, flat_layout(5), {0, 0, 0, 0, 0}), {0, 0, 0, 0, 0}));
    BOOST_TEST(same_bits(sent_by_both(spec, flat_layout(3), {-0.0f, 0, -0.0f}), {0, 0, 0}));
    BOOST_TEST(same_bits(sent_by_both(spec, flat_layout(3), {2, 2, 2}), {2, 2, 2}));
    BOOST_TEST(same_bits(sent_by_both(spec, flat_layout(2), {FLT_MAX, -FLT_MAX}), {FLT_MAX, -FLT_MAX}));
    BOOST_TEST(same_bits(sent_by_both(spec, flat_layout(2), {FLT_TRUE_MIN, 0}), {FLT_TRUE_MIN, 0}));
  }
  // A cut far below the largest values, and one that no float32 is small enough for.
  std::vector<float> v(40'000, 1e-3f);
  v[5] = FLT_MAX;
  sent_by_both("terngrad:clip=0.0001", flat_layout(40'000), v);
  v.assign(2000, FLT_TRUE_MIN);
  BOOST_TEST(same_bits(sent_by_both("terngrad:clip=0.1", flat_layout(2000), v), std::vector<float>(2000)));
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  const Layout layout = two_tensors();
  for (const char* spec : {"terngrad", "terngrad:clip=2.5"})
    for (const float bad : {INFINITY, NAN}) {
      std::vector<float> v = gaussian(layout.size());
      v[1500] = bad;
      const std::string refusal = message_of([&] { encoded(*codec(spec, layout), view_of(v), kStream); });
      BOOST_TEST(contains(refusal, "codec terngrad: element 1500 of fc.weight is"), refusal);
    }
  for (const char* spec : {"terngrad:clip=-1", "terngrad:clip=nan", "terngrad:clip=1001", "terngrad:levels=2"})
    BOOST_CHECK_THROW(codec(spec, layout), Error);
  const Bytes message = encoded(*codec("terngrad", layout), view_of(gaussian(layout.size())), kStream);
  const std::string cut = message_of([&] { decoded(*codec("terngrad", layout), Bytes(100), layout.size()); });
  BOOST_TEST(contains(cut, "codec terngrad: the message ends within fc.weight"), cut);
}

BOOST_AUTO_TEST_CASE(description) {
  BOOST_TEST(
      codec("terngrad:clip=2.5", two_tensors())->describe() ==
      "terngrad: 3025 of 3065 values in 1 level in 2 bits, a bucket for each tensor, max norm of values cut at 2.5 "
      "standard deviations; float32: fc.bias");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
