// The bytes of docs/codecs.md, and those of longer messages: what other versions and machines must read and write.
#include "framework/core/fnv.h"
#include "tests/optim/compress/message.h"

namespace {

using namespace tg;
using namespace tg::test;

std::string hex(const Bytes& bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(b));
  return text;
}

uint64_t hash(const Bytes& bytes) { return fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); }

BOOST_AUTO_TEST_SUITE(golden)

// Two buckets, of four values and of three; all lie on levels, so that nothing is random.
BOOST_AUTO_TEST_CASE(the_example_of_the_documentation) {
  const std::vector<float> v = {7, -3, 0, 1, 0, -7, 2};
  const auto bytes = [&](const char* encoding) {
    const auto c = codec(fmt::format("qsgd:bucket=4,min-elements=0,encoding={}", encoding), flat_layout(7));
    const Bytes message = encoded(*c, view_of(v), Stream(1));
    BOOST_TEST(same_bits(decoded(*c, message, 7), v));
    return hex(message);
  };
  BOOST_TEST(bytes("fixed") == "0000e040b7100000e040f002");
  BOOST_TEST(bytes("elias-sparse") == "0000e0400000e0402e74137100");
  BOOST_TEST(bytes("elias-dense") == "0000e0400000e040e0a2870e00");
  const std::vector<float> tern = {4, -4, 0, 4, -4};
  BOOST_TEST(hex(encoded(*codec("terngrad:min-elements=0", flat_layout(5)), view_of(tern), Stream(1))) ==
             "000080404d03");
  const std::vector<float> two = {1, -2, 3, -4, 2, 0, 0, 0, 0, 0};
  Layout columns;
  columns.add("w", {2, 5});
  BOOST_TEST(hex(encoded(*codec("onebit:min-elements=0", columns), view_of(two), Stream(1))) ==
             "000040c0000000400a000000000000000000");
}

BOOST_AUTO_TEST_CASE(longer_messages) {
  struct Case {
    const char* spec;
    size_t bytes;
    uint64_t hash;
  };
  // Values that every machine makes alike.
  std::vector<float> v(3000);
  uint32_t state = 1;
  for (float& x : v) {
    state = state * 1664525 + 1013904223;
    x = (static_cast<float>(state >> 8) - 8388608) * 0x1p-30f;
  }
  const std::vector<Case> cases = {
      {"qsgd-2bit", 846, 0x4b2f485b38bb4ce0},
      {"qsgd-4bit", 1524, 0x99ca0791920237d3},
      {"qsgd-8bit", 3024, 0x8c1c241de174e304},
      {"qsgd-4bit:norm=l2", 1524, 0x42f87ce5c3343564},
      {"qsgd:levels=10", 1899, 0x9a3ad1a30afe320f},
      {"qsgd:levels=1,norm=l2,encoding=elias-sparse", 178, 0x6411b6d0d7e03055},
      {"qsgd:levels=23,norm=l2,encoding=elias-dense", 1221, 0x5c8c679c688649f7},
      {"terngrad", 754, 0x4bb53c1f6728d7ca},
      {"terngrad:clip=1", 754, 0xd3d9deeba953e7ac},
      {"onebit", 383, 0x12b0c2c8f382cc5f},
      {"onebit:warm-start=1", 12001, 0x5e32be6143c1fd98},
      {"qsgd-4bit:error-feedback=true", 1524, 0x185ea2edfdad95f1},
  };
  for (const Case& expected : cases) {
    const Bytes message = encoded(*codec(expected.spec, flat_layout(3000)), view_of(v), Stream(1).split("golden"));
    BOOST_TEST_CONTEXT(fmt::format("{{\"{}\", {}, 0x{:016x}}}", expected.spec, message.size(), hash(message))) {
      BOOST_TEST(message.size() == expected.bytes);
      BOOST_TEST(hash(message) == expected.hash);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
