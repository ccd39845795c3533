// Codec `none`: float32 without the gaps.
#include <cstring>

#include "framework/core/error.h"
#include "optim/compress/codec.h"
#include "tests/optim/bits.h"

namespace {

using namespace tg;
using namespace tg::test;

const Stream kStream(1);

Layout layout() {
  Layout layout;
  layout.add("weight", Shape{3, 7});
  layout.add("empty", Shape{0});
  layout.add("bias", Shape{7});
  layout.add("full", Shape{16});
  return layout;
}

// 1, 2, 3, ... where there are parameters, zeros in the gaps.
std::vector<float> values() {
  const Layout l = layout();
  std::vector<float> v(static_cast<size_t>(l.size()));
  for (const Layout::Entry& entry : l.entries())
    for (int64_t i = entry.offset; i < entry.offset + entry.shape.count(); ++i)
      v[static_cast<size_t>(i)] = static_cast<float>(i + 1);
  return v;
}

BOOST_AUTO_TEST_SUITE(none_codec)

BOOST_AUTO_TEST_CASE(four_bytes_a_parameter) {
  const auto codec = make_none_codec(layout());
  const std::vector<float> v = values();
  std::vector<std::byte> bytes(1000);
  BOOST_TEST(codec->exact());
  BOOST_TEST(codec->max_encoded_bytes(0, 64) == 4 * (21 + 7 + 16));
  BOOST_TEST(codec->encode(view_of(v), 0, kStream, bytes) == 4 * (21 + 7 + 16));
  const unsigned char one[4] = {0, 0, 0x80, 0x3f};  // 1.0f, little-endian
  BOOST_TEST(std::memcmp(bytes.data(), one, 4) == 0);
  float bias = 0;
  std::memcpy(&bias, bytes.data() + 4 * 21, 4);
  BOOST_TEST(bias == 33.0f);  // follows the weights at once
}

// Every range, as shards cut them: the bytes of the parts are the bytes of the whole.
BOOST_AUTO_TEST_CASE(every_range_comes_back) {
  const auto codec = make_none_codec(layout());
  const std::vector<float> v = values();
  const int64_t n = static_cast<int64_t>(v.size());
  for (int64_t first = 0; first <= n; ++first) {
    for (int64_t count = 0; first + count <= n; ++count) {
      const View part = view_of(v).part(first, count);
      std::vector<std::byte> bytes(static_cast<size_t>(codec->max_encoded_bytes(first, count)));
      BOOST_REQUIRE(codec->encode(part, first, kStream, bytes) == static_cast<int64_t>(bytes.size()));
      std::vector<float> out(static_cast<size_t>(count), -1.0f);
      codec->decode(bytes, first, {out.data(), count});
      BOOST_REQUIRE(count == 0 || same_bits(view_of(out), part));
    }
  }
  BOOST_TEST(codec->max_encoded_bytes(0, 30) + codec->max_encoded_bytes(30, n - 30) == codec->max_encoded_bytes(0, n));
}

BOOST_AUTO_TEST_CASE(what_it_refuses) {
  const auto codec = make_none_codec(layout());
  const std::vector<float> v = values();
  std::vector<float> out(v.size());
  const Span whole(out.data(), static_cast<int64_t>(out.size()));
  std::vector<std::byte> bytes(static_cast<size_t>(codec->max_encoded_bytes(0, whole.size)));
  for (const size_t length : {size_t{0}, bytes.size() - 1, bytes.size() + 1, size_t{4096}}) {
    const std::vector<std::byte> wrong(length);
    BOOST_CHECK_THROW(codec->decode(wrong, 0, whole), Error);
  }
  BOOST_CHECK_THROW(codec->encode(view_of(v), 0, kStream, std::span(bytes).first(8)), Error);
  BOOST_CHECK_THROW(codec->encode(view_of(v), 1, kStream, bytes), Error);
  BOOST_CHECK_THROW(codec->max_encoded_bytes(-1, 2), Error);
  BOOST_CHECK_THROW(codec->max_encoded_bytes(0, -1), Error);
  BOOST_CHECK_THROW(codec->max_encoded_bytes(65, 0), Error);
  BOOST_CHECK_THROW(codec->max_encoded_bytes(1, INT64_MAX), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
