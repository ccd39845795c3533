// Codec `none`: float32 as it is, little-endian, without the gaps.

#include <algorithm>
#include <bit>
#include <cstring>

#include "optim/compress/codec.h"
#include "optim/compress/tensors.h"

namespace tg {

namespace {

static_assert(std::endian::native == std::endian::little, "codec none copies floats as they lie in memory");

class NoneCodec : public Codec {
 public:
  explicit NoneCodec(const Layout& layout) : layout_(layout) {}

  bool exact() const override { return true; }
  std::string describe() const override { return "none: float32"; }

  int64_t max_encoded_bytes(int64_t first, int64_t count) const override {
    int64_t bytes = 0;
    for_each_part("none", layout_, first, count, [&](const TensorPart& part) { bytes += 4 * part.count; });
    return bytes;
  }

  int64_t encode(View values, int64_t first, const Stream&, std::span<std::byte> out) override {
    const int64_t bytes = max_encoded_bytes(first, values.size);
    require(values.device.on_host(), "codec none: encodes from host memory, not from {}", name_of(values.device));
    require(bytes <= static_cast<int64_t>(out.size()), "codec none: {} bytes to write into {}", bytes, out.size());
    std::byte* to = out.data();
    for_each_part("none", layout_, first, values.size, [&](const TensorPart& part) {
      std::memcpy(to, values.part(part.at, part.count).data, static_cast<std::size_t>(4 * part.count));
      to += 4 * part.count;
    });
    return bytes;
  }

  void decode(std::span<const std::byte> bytes, int64_t first, Span out) const override {
    const int64_t expected = max_encoded_bytes(first, out.size);
    require(out.device.on_host(), "codec none: decodes into host memory, not into {}", name_of(out.device));
    require(static_cast<int64_t>(bytes.size()) == expected,
            "codec none: elements {} to {} take {} bytes, but {} came; both sides must have the same model and codec",
            first, first + out.size, expected, bytes.size());
    std::fill(out.begin(), out.end(), 0.0f);
    const std::byte* from = bytes.data();
    for_each_part("none", layout_, first, out.size, [&](const TensorPart& part) {
      std::memcpy(out.part(part.at, part.count).data, from, static_cast<std::size_t>(4 * part.count));
      from += 4 * part.count;
    });
  }

 private:
  Layout layout_;
};

}  // namespace

std::unique_ptr<Codec> make_none_codec(const Layout& layout) { return std::make_unique<NoneCodec>(layout); }

}  // namespace tg
