#include "optim/compress/onebit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "framework/core/reduce.h"
#include "optim/compress/error_feedback.h"
#include "optim/compress/per_tensor.h"
#include "optim/compress/quantize.h"
#include "optim/compress/warm_start.h"

namespace tg {

namespace {

constexpr int64_t kMeansBytes = 8;        // float32 of the values below 0, and of the others
constexpr int64_t kChunk = kReduceBlock;  // values; their bits fill whole bytes
constexpr uint32_t kNegativeZero = 1u << 31;

int64_t column_of(const Layout::Entry& entry) {
  const Shape& shape = entry.shape;
  return shape.rank() > 1 ? shape.count() / shape[0] : shape.count();
}

int64_t bytes_of(int64_t column) { return kMeansBytes + (column + 7) / 8; }

struct Means {
  float below = 0, above = 0;  // 0 where there is no such value
};

int64_t ones_in(const std::byte* bytes, int64_t n) {
  int64_t ones = 0, i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    ones += std::popcount(word);
  }
  for (; i < n; ++i) ones += std::popcount(static_cast<unsigned char>(bytes[i]));
  return ones;
}

// A column's signs into (n + 7) / 8 bytes at `bits`. Its means are not finite if one of its values is not.
Means put_column(View column, std::byte* bits) {
  alignas(64) uint8_t negative[kChunk];
  double below = 0, above = 0;
  for (int64_t at = 0; at < column.size; at += kChunk) {
    const int64_t n = std::min(kChunk, column.size - at);
    const float* const v = column.data + at;
    for (int64_t i = 0; i < n; ++i) negative[i] = v[i] < 0 ? 1 : 0;
    pack(negative, n, 1, bits + at / 8);
    below += detail::reduce_block([](float x) { return x < 0 ? x : 0.0f; }, 0, n, v);
    above += detail::reduce_block([](float x) { return x < 0 ? 0.0f : x; }, 0, n, v);  // and NaN
  }
  const int64_t negatives = ones_in(bits, (column.size + 7) / 8), others = column.size - negatives;
  return {negatives == 0 ? 0.0f : static_cast<float>(below / static_cast<double>(negatives)),
          others == 0 ? 0.0f : static_cast<float>(above / static_cast<double>(others))};
}

// Returns false for bytes that put_column() does not write.
bool get_column(const Means& means, const std::byte* bits, Span column) {
  const int64_t negatives = ones_in(bits, (column.size + 7) / 8);
  const bool below =
      negatives == 0 ? std::bit_cast<uint32_t>(means.below) == 0 : std::isfinite(means.below) && means.below < 0;
  const bool above = negatives == column.size ? std::bit_cast<uint32_t>(means.above) == 0
                                              : std::isfinite(means.above) && means.above >= 0 &&
                                                    std::bit_cast<uint32_t>(means.above) != kNegativeZero;
  if (!below || !above) return false;
  alignas(64) uint8_t negative[kChunk];
  for (int64_t at = 0; at < column.size; at += kChunk) {
    const int64_t n = std::min(kChunk, column.size - at);
    if (!unpack(bits + at / 8, n, 1, negative)) return false;
    float* const v = column.data + at;
    for (int64_t i = 0; i < n; ++i) v[i] = negative[i] != 0 ? means.below : means.above;
  }
  return true;
}

class OneBit : public TensorCoder {
 public:
  std::string describe() const override { return "a sign each and two means per column"; }
  int64_t unit(const Layout::Entry& entry) const override { return column_of(entry); }
  int64_t max_encoded_bytes(const Layout::Entry& entry, int64_t, int64_t count) const override {
    const int64_t column = column_of(entry);
    return count / column * bytes_of(column);
  }

  int64_t encode(const Layout::Entry& entry, int64_t begin, View values, const Stream&,
                 std::span<std::byte> out) override {
    const int64_t column = column_of(entry);
    int64_t used = 0;
    for (int64_t first = 0; first < values.size; first += column) {
      const View part = values.part(first, column);
      const Means means = put_column(part, out.data() + used + kMeansBytes);
      if (!std::isfinite(means.below) || !std::isfinite(means.above))
        require_finite("onebit", entry.name, begin + first, part);
      std::memcpy(out.data() + used, &means, kMeansBytes);
      used += bytes_of(column);
    }
    return used;
  }

  int64_t decode(const Layout::Entry& entry, int64_t begin, std::span<const std::byte> bytes, Span out) const override {
    const int64_t column = column_of(entry), size = max_encoded_bytes(entry, begin, out.size);
    if (size > std::ssize(bytes)) fail("codec onebit: the message ends within {}", entry.name);
    int64_t used = 0;
    for (int64_t first = 0; first < out.size; first += column) {
      Means means;
      std::memcpy(&means, bytes.data() + used, kMeansBytes);
      if (!get_column(means, bytes.data() + used + kMeansBytes, out.part(first, column)))
        fail("codec onebit: elements {} to {} of {} have means and signs that no encoder writes", begin + first,
             begin + first + column, entry.name);
      used += bytes_of(column);
    }
    return used;
  }
};

static_assert(sizeof(Means) == kMeansBytes && std::endian::native == std::endian::little);

}  // namespace

SpecInfo onebit_info(int64_t min_elements) {
  SpecInfo info{"onebit", "signs, and two means per column, with error feedback (Seide et al. 2014)", {}};
  for (OptionInfo& option : KeepFloat32::options(min_elements)) info.options.push_back(std::move(option));
  info.options.push_back(error_feedback_option(true));
  info.options.push_back(warm_start_option());
  return info;
}

std::unique_ptr<Codec> make_onebit_codec(const Layout& layout, const KeepFloat32& keep) {
  return make_per_tensor_codec("onebit", layout, keep, std::make_unique<OneBit>());
}

}  // namespace tg
