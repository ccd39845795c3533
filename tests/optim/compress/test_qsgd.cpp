// QSGD's messages: what must come back as it was, the same bytes from both forms and from any cut, and what is refused.
#include <cfloat>
#include <cmath>

#include "tests/dist/allocations.h"
#include "tests/optim/compress/message.h"

namespace {

using namespace tg;
using namespace tg::test;

const Stream kStream = Stream(4).split("codec_up");

const std::vector<std::string> kSpecs = {
    "qsgd-2bit",
    "qsgd-4bit",
    "qsgd-8bit",
    "qsgd-4bit:norm=l2",
    "qsgd:levels=2,bucket=100",
    "qsgd:levels=10,bucket=33,norm=l2",
    "qsgd:levels=128,bucket=1",
    "qsgd:levels=1,norm=l2,encoding=elias-sparse",
    "qsgd:levels=3,bucket=7,encoding=elias-sparse",
    "qsgd:levels=1000,bucket=5000,encoding=elias-sparse",
    "qsgd:levels=127,encoding=elias-dense",
    "qsgd:levels=1000,bucket=1000000,norm=l2,encoding=elias-dense",
    "qsgd:levels=32767,bucket=2000,encoding=fixed",
};
std::string all_quantised(const std::string& spec) {
  return spec + (spec.find(':') == std::string::npos ? ":" : ",") + "min-elements=0";
}

// The message of both forms, which must agree, and what both decode.
std::vector<float> sent_by_both(const std::string& spec, const Layout& layout, const std::vector<float>& v) {
  const auto fast = codec(spec, layout), plain = make_plain_qsgd_codec(layout, qsgd_options(spec));
  const Bytes bytes = encoded(*fast, view_of(v), kStream);
  BOOST_REQUIRE((bytes == encoded(*plain, view_of(v), kStream)));
  const std::vector<float> out = decoded(*fast, bytes, std::ssize(v));
  if (!v.empty()) BOOST_REQUIRE(same_bits(out, decoded(*plain, bytes, std::ssize(v))));
  return out;
}

BOOST_AUTO_TEST_SUITE(qsgd)

BOOST_AUTO_TEST_CASE(lengths) {
  for (const std::string& spec : kSpecs) {
    for (const int64_t n : {0, 1, 31, 32, 33, 511, 512, 513, 2048, 2049}) {
      BOOST_TEST_CONTEXT(spec << ", " << n << " values") {
        const std::vector<float> v = gaussian(n);
        const std::vector<float> out = sent_by_both(all_quantised(spec), flat_layout(n), v);
        const QsgdOptions o = qsgd_options(spec);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t first = i / o.bucket * o.bucket;
          const float norm = bucket_norm(o.norm, v.data() + first, std::min(o.bucket, n - first));
          const auto k = static_cast<size_t>(i);
          BOOST_REQUIRE(std::abs(out[k] - v[k]) <= norm / static_cast<float>(o.levels) * 1.0001f);
          BOOST_REQUIRE(out[k] * v[k] >= 0);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_million_and_seven_values) {
  constexpr int64_t n = 1'000'007;
  const std::vector<float> v = gaussian(n);
  for (const char* spec : {"qsgd-4bit", "qsgd:levels=1,norm=l2,encoding=elias-sparse"}) BOOST_TEST_CONTEXT(spec) {
      sent_by_both(spec, flat_layout(n), v);
    }
}

BOOST_AUTO_TEST_CASE(values_that_come_back_as_they_were) {
  std::vector<std::vector<float>> vectors = {
      {0, 0, 0, 0, 0},
      {-0.0f, 0, -0.0f},
      {1, -1, 1, 1},
      {-3.7f},
      {0, 0, -7e-5f, 0, 0, 0},
      {FLT_TRUE_MIN, 0, 0},
      {0, -3 * FLT_TRUE_MIN, 0},
      {0, 0, FLT_MIN},
      {0, -FLT_MAX, 0, 0},
      {-0.0f, -5, 0},
  };
  std::vector<float> late(1300);  // alone in the short last bucket
  late.back() = -0.1f;
  vectors.push_back(late);
  for (const std::string& spec : kSpecs) {
    const QsgdOptions o = qsgd_options(spec);
    for (const std::vector<float>& v : vectors) {
      // With the 2-norm, four equal values are not on a level.
      if (o.norm == BucketNorm::l2 && v[0] == 1) continue;
      BOOST_TEST_CONTEXT(spec << ", " << v[0] << " of " << v.size()) {
        const std::vector<float> out = sent_by_both(all_quantised(spec), flat_layout(std::ssize(v)), v);
        for (size_t i = 0; i < v.size(); ++i) {
          BOOST_TEST(out[i] == v[i]);
          BOOST_TEST((v[i] != 0 || !std::signbit(out[i])));  // -0.0 comes back as 0.0
        }
      }
    }
  }
}

// Denormal buckets keep their mean, as far as float32 has numbers there.
BOOST_AUTO_TEST_CASE(denormals) {
  std::vector<float> v(512);
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(i % 50) * 20 * FLT_TRUE_MIN * (i % 2 == 0 ? 1.0f : -1.0f);
  for (const char* spec : {"qsgd-4bit:min-elements=0", "qsgd-8bit:norm=l2,min-elements=0"}) {
    const std::vector<float> out = sent_by_both(spec, flat_layout(512), v);
    double sum = 0, expected = 0;
    for (size_t i = 0; i < v.size(); ++i) {
      sum += std::abs(double{out[i]});
      expected += std::abs(double{v[i]});
    }
    BOOST_TEST(std::abs(sum / expected - 1) < 0.2);
  }
}

Layout layout_with_gaps() {
  Layout layout;
  layout.add("conv.weight", {3, 3, 40});
  layout.add("conv.bias", {40});
  layout.add("fc.weight", {2049});
  layout.add("fc.bias", {1});
  layout.add("out.weight", {16, 128});
  return layout;
}

std::vector<float> in_layout(const Layout& layout) {
  std::vector<float> v(static_cast<size_t>(layout.size()));
  const std::vector<float> noise = gaussian(layout.size(), 9);
  for (const Layout::Entry& entry : layout.entries())
    for (int64_t i = entry.offset; i < entry.offset + entry.shape.count(); ++i)
      v[static_cast<size_t>(i)] = noise[static_cast<size_t>(i)];
  return v;
}

// Shards end between tensors: their messages, one behind the other, are the message of the whole. Chunks may end at any
// bucket: they decode to the same values.
BOOST_AUTO_TEST_CASE(shards_and_chunks_are_the_whole) {
  const Layout layout = layout_with_gaps();
  const std::vector<float> v = in_layout(layout);
  for (const std::string& name : kSpecs) {
    for (const std::string& spec : {name, all_quantised(name)}) {
      BOOST_TEST_CONTEXT(spec) {
        const auto c = codec(spec, layout);
        const Bytes whole = encoded(*c, view_of(v), kStream);
        const std::vector<float> expected = sent_by_both(spec, layout, v);
        Bytes joined;
        for (size_t i = 0; i < layout.entries().size(); ++i) {
          const int64_t first = layout.entries()[i].offset;
          const int64_t end = i + 1 < layout.entries().size() ? layout.entries()[i + 1].offset : layout.size();
          const Bytes part = encoded(*c, view_of(v).part(first, end - first), kStream, first);
          joined.insert(joined.end(), part.begin(), part.end());
          BOOST_TEST(
              same_bits(view_of(decoded(*c, part, end - first, first)), view_of(expected).part(first, end - first)));
        }
        BOOST_TEST((joined == whole));
        const Layout::Entry& fc = layout.find("fc.weight");
        const int64_t bucket = qsgd_options(spec).bucket;
        for (int64_t at = 0; at < 2049; at += bucket) {
          const int64_t n = std::min(bucket, 2049 - at);
          const Bytes part = encoded(*c, view_of(v).part(fc.offset + at, n), kStream, fc.offset + at);
          BOOST_REQUIRE(
              same_bits(view_of(decoded(*c, part, n, fc.offset + at)), view_of(expected).part(fc.offset + at, n)));
        }
        for (const Layout::Entry& entry : layout.entries())  // the gaps
          for (int64_t i = entry.offset + entry.shape.count(); i % 16 != 0; ++i)
            BOOST_TEST(expected[static_cast<size_t>(i)] == 0);
      }
    }
  }
  const auto c = codec("qsgd-2bit:min-elements=0", layout);
  BOOST_CHECK_THROW(c->max_encoded_bytes(layout.find("fc.weight").offset, 100), Error);
  BOOST_CHECK_THROW(c->max_encoded_bytes(layout.find("fc.weight").offset + 16, 128), Error);
}

BOOST_AUTO_TEST_CASE(bytes_of_a_value) {
  constexpr int64_t n = 512 * 128;
  const auto bits = [&](const char* spec) {
    const auto c = codec(spec, flat_layout(n));
    const int64_t bytes = std::ssize(encoded(*c, view_of(gaussian(n)), kStream));
    BOOST_TEST(bytes == c->max_encoded_bytes(0, n));
    return 8.0 * static_cast<double>(bytes) / n;
  };
  BOOST_TEST(bits("qsgd-2bit") == 2.25);
  BOOST_TEST(bits("qsgd-4bit") == 4.0625);
  BOOST_TEST(bits("qsgd-8bit") == 8.0625);
  BOOST_TEST(bits("qsgd-paper") == 4.0625);
}

// The bound of the Elias codes is reached, and not passed, by what is longest in them.
BOOST_AUTO_TEST_CASE(the_longest_message) {
  for (const int64_t n : {1, 2, 3, 100, 512, 1025}) {
    const std::vector<float> same(static_cast<size_t>(n), -2.0f);
    for (const char* encoding : {"elias-sparse", "elias-dense"}) {
      const auto c = codec(fmt::format("qsgd:levels=127,min-elements=0,encoding={}", encoding), flat_layout(n));
      BOOST_TEST(std::ssize(encoded(*c, view_of(same), kStream)) == c->max_encoded_bytes(0, n));
      for (const std::vector<float>& other : {gaussian(n), std::vector<float>(static_cast<size_t>(n))})
        BOOST_TEST(std::ssize(encoded(*c, view_of(other), kStream)) <= c->max_encoded_bytes(0, n));
    }
  }
}

// Beyond the message there are a few kB on the stack.
BOOST_AUTO_TEST_CASE(nothing_is_allocated) {
  constexpr int64_t n = 100'000;
  const std::vector<float> v = gaussian(n);
  for (const std::string& spec : kSpecs) {
    const auto c = codec(spec, flat_layout(n));
    Bytes bytes(static_cast<size_t>(c->max_encoded_bytes(0, n)));
    std::vector<float> out(n);
    const int64_t before = allocations();
    const int64_t used = c->encode(view_of(v), 0, kStream, bytes);
    c->decode({bytes.data(), static_cast<size_t>(used)}, 0, {out.data(), n});
    BOOST_TEST(allocations() == before, spec);
  }
}

BOOST_AUTO_TEST_CASE(what_stays_float32) {
  const Layout layout = layout_with_gaps();
  const std::vector<float> v = in_layout(layout);
  const auto kept = [&](const std::string& spec, const char* tensor) {
    const Layout::Entry& entry = layout.find(tensor);
    const std::vector<float> out = sent_by_both(spec, layout, v);
    return !!same_bits(view_of(out).part(entry.offset, entry.shape.count()),
                       view_of(v).part(entry.offset, entry.shape.count()));
  };
  for (const char* tensor : {"conv.weight", "conv.bias", "fc.bias"}) BOOST_TEST(kept("qsgd-4bit", tensor));
  for (const char* tensor : {"fc.weight", "out.weight"}) {
    BOOST_TEST(!kept("qsgd-4bit", tensor));
    BOOST_TEST(kept("qsgd-paper", tensor));
  }
  BOOST_TEST(!kept("qsgd-4bit:min-elements=360", "conv.weight"));
  BOOST_TEST(kept("qsgd-4bit:min-elements=361", "conv.weight"));
  BOOST_TEST(kept("qsgd-4bit:keep-fp32=fc.*", "fc.weight"));
  BOOST_TEST(!kept("qsgd-4bit:keep-fp32=fc.*", "out.weight"));
  BOOST_TEST(kept("qsgd-4bit:keep-fp32=*bias+o*t.w*", "out.weight"));
  BOOST_TEST(codec("qsgd-4bit:keep-fp32=out*", layout)->describe() ==
             "qsgd: 2049 of 4498 values in 7 levels in 4 bits, buckets of 512, max norm; float32: conv.weight, "
             "conv.bias, fc.bias, out.weight");
  BOOST_TEST(codec("qsgd:levels=1,norm=l2,encoding=elias-sparse,min-elements=0", layout)->describe() ==
             "qsgd: 4498 of 4498 values in 1 level in Elias' sparse code, buckets of 512, l2 norm; float32: none");
  const std::string refusal = message_of([&] { codec("qsgd-4bit:keep-fp32=fc.wieght", layout); });
  BOOST_TEST(contains(refusal, "'fc.wieght' matches no parameter; did you mean fc.weight?"), refusal);
}

BOOST_AUTO_TEST_CASE(values_that_have_no_code) {
  const Layout layout = layout_with_gaps();
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    std::vector<float> v = in_layout(layout);
    v[static_cast<size_t>(layout.find("fc.weight").offset) + 1500] = bad;
    for (const auto& c : {codec("qsgd-4bit", layout), make_plain_qsgd_codec(layout, {})}) {
      const std::string refusal = message_of([&] { encoded(*c, view_of(v), kStream); });
      BOOST_TEST(contains(refusal, "element 1500 of fc.weight is"), refusal);
    }
    // What travels as float32 may be anything.
    const auto c = codec("qsgd-4bit:keep-fp32=fc.weight", layout);
    BOOST_TEST(same_bits(view_of(sent(*c, v, kStream)).part(layout.find("fc.weight").offset, 2049),
                         view_of(v).part(layout.find("fc.weight").offset, 2049)));
  }
  const std::vector<float> large(2000, FLT_MAX);
  const std::string refusal =
      message_of([&] { encoded(*codec("qsgd-4bit:norm=l2", flat_layout(2000)), view_of(large), kStream); });
  BOOST_TEST(contains(refusal, "the norm of elements 0 to 512 of theta is too large"), refusal);
  BOOST_TEST(same_bits(sent(*codec("qsgd-4bit", flat_layout(2000)), large, kStream), large));
}

BOOST_AUTO_TEST_CASE(options_out_of_range) {
  for (const char* spec :
       {"qsgd:bits=3", "qsgd:bits=16", "qsgd:levels=32768", "qsgd:levels=-1", "qsgd:bucket=0", "qsgd:bucket=1000000001",
        "qsgd:norm=l1", "qsgd:encoding=elias", "qsgd:min-elements=-1", "qsgd:bits=4,levels=7"})
    BOOST_CHECK_THROW(codec(spec, flat_layout(10)), Error);
  BOOST_TEST(qsgd_options("qsgd:bits=2").levels == 1);
  BOOST_TEST(qsgd_options("qsgd-8bit").levels == 127);
  BOOST_TEST(qsgd_options("qsgd-8bit:levels=9").levels == 9);
  BOOST_TEST(qsgd_options("qsgd-2bit").bucket == 128);
  BOOST_TEST(qsgd_options("qsgd-paper").keep.min_elements == 10'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
