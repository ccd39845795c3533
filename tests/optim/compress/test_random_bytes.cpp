// Any bytes to any decoder: values, or Error; nothing is read behind the bytes or written outside the span. (The
// sanitized build of these tests watches; tests/fuzz/fuzz_codec looks further.)
#include <cmath>

#include "tests/optim/compress/message.h"

namespace {

using namespace tg;
using namespace tg::test;

Layout layout() {
  Layout layout;
  layout.add("small", {5});
  layout.add("large", {90});
  layout.add("one", {1});
  layout.add("last", {33});
  return layout;
}

std::vector<std::string> specs() {
  std::vector<std::string> all;
  for (const SpecInfo& info : codec_infos()) {
    all.push_back(info.name);
    for (const OptionInfo& option : info.options)
      if (option.name == "min-elements") all.back() = info.name + ":min-elements=6";
  }
  all.push_back("onebit:min-elements=0,error-feedback=false");
  all.push_back("onebit:min-elements=6,warm-start=1");
  all.push_back("terngrad:min-elements=0,error-feedback=true");
  for (const char* encoding : {"fixed", "elias-sparse", "elias-dense"})
    for (const char* levels : {"1", "6", "127", "300"})
      all.push_back(fmt::format("qsgd:levels={},bucket=32,min-elements=0,encoding={}", levels, encoding));
  return all;
}

enum class Outcome { taken, refused };

Outcome decode(const Codec& codec, std::span<const std::byte> bytes) {
  // In memory of exactly that size, so that AddressSanitizer sees a byte too many.
  const Bytes exact(bytes.begin(), bytes.end());
  const Layout l = layout();
  std::vector<float> out(static_cast<size_t>(l.size()), 1.0f);
  try {
    codec.decode(exact, 0, {out.data(), l.size()});
  } catch (const Error&) {
    return Outcome::refused;
  }
  for (const Layout::Entry& entry : l.entries())
    for (int64_t i = entry.offset + entry.shape.count(); i % 16 != 0; ++i)
      BOOST_REQUIRE(out[static_cast<size_t>(i)] == 0);
  return Outcome::taken;
}

BOOST_AUTO_TEST_SUITE(random_bytes)

BOOST_AUTO_TEST_CASE(every_decoder) {
  constexpr int kInputs = 10'000;
  for (const std::string& spec : specs()) {
    BOOST_TEST_CONTEXT(spec) {
      const Layout l = layout();
      const auto codec = test::codec(spec, l);
      const int64_t most = codec->max_encoded_bytes(0, l.size());
      const Bytes valid = encoded(*codec, view_of(gaussian(l.size())), Stream(1));
      BOOST_REQUIRE((decode(*codec, valid) == Outcome::taken));
      Generator random(Stream(31).split(spec));
      int refused = 0;
      for (int i = 0; i < kInputs; ++i) {
        Bytes bytes = valid;
        if (i % 4 == 0) {  // anything
          bytes.resize(random.below(static_cast<uint64_t>(most) + 20));
          for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
        } else if (i % 4 == 1) {  // cut, or longer
          bytes.resize(random.below(valid.size() + 10));
        } else {  // some bytes changed
          for (uint64_t k = 1 + random.below(4); k > 0; --k)
            bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
        }
        if (decode(*codec, bytes) == Outcome::refused) ++refused;
      }
      BOOST_TEST(refused > kInputs / 3);  // lengths, at the least
    }
  }
}

// Every message that is cut short, or one byte longer, is refused.
BOOST_AUTO_TEST_CASE(wrong_lengths) {
  for (const std::string& spec : specs()) {
    BOOST_TEST_CONTEXT(spec) {
      const auto codec = test::codec(spec, layout());
      Bytes bytes = encoded(*codec, view_of(gaussian(layout().size())), Stream(1));
      bytes.push_back(std::byte{0});
      for (size_t n = 0; n <= bytes.size(); ++n)
        if (n + 1 != bytes.size()) BOOST_REQUIRE((decode(*codec, std::span(bytes).first(n)) == Outcome::refused));
    }
  }
}

BOOST_AUTO_TEST_CASE(codes_that_no_encoder_writes) {
  struct Case {
    const char* what;
    const char* spec;
    std::vector<unsigned char> bytes;
  };
  const std::vector<Case> cases = {
      {"the norm is -1", "qsgd-4bit", {0, 0, 0x80, 0xbf, 0x07}},
      {"the norm is -0", "qsgd-4bit", {0, 0, 0, 0x80, 0x00}},
      {"the norm is infinite", "qsgd-4bit", {0, 0, 0x80, 0x7f, 0x07}},
      {"the norm is NaN", "qsgd-4bit", {0, 0, 0xc0, 0x7f, 0x07}},
      {"norm 0, level 7", "qsgd-4bit", {0, 0, 0, 0, 0x07}},
      {"-0", "qsgd-4bit", {0, 0, 0x80, 0x3f, 0x08}},
      {"level 7 of 6", "qsgd:levels=6", {0, 0, 0x80, 0x3f, 0x07}},
      {"padding", "qsgd-4bit", {0, 0, 0x80, 0x3f, 0x17}},
      {"padding", "qsgd:levels=1,encoding=elias-sparse", {0, 0, 0x80, 0x3f, 0x01}},
      {"a gap of 4 in a bucket of 1", "qsgd:levels=1,encoding=elias-sparse", {0, 0, 0x80, 0x3f, 0xa0}},
      {"level 2 of 1", "qsgd:levels=1,encoding=elias-sparse", {0, 0, 0x80, 0x3f, 0x20}},
      {"level 3 of 1", "qsgd:levels=1,encoding=elias-dense", {0, 0, 0x80, 0x3f, 0xa0}},
  };
  for (const Case& c : cases) {
    BOOST_TEST_CONTEXT(c.what) {
      const std::string spec = std::string(c.spec) + (contains(c.spec, ":") ? "," : ":") + "min-elements=0";
      Bytes bytes;
      for (const unsigned char b : c.bytes) bytes.push_back(std::byte{b});
      const Layout one = flat_layout(1);
      const auto fast = test::codec(spec, one), plain = make_plain_qsgd_codec(one, qsgd_options(spec));
      BOOST_CHECK_THROW(decoded(*fast, bytes, 1), Error);
      BOOST_CHECK_THROW(decoded(*plain, bytes, 1), Error);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
