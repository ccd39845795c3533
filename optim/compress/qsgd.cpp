// QSGD in vectors: a bucket's norm, then chunks of it are rounded, and packed or written as Elias codes, while they are
// in the cache. qsgd_plain.cpp says the same in a page.

#include "optim/compress/qsgd.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "optim/compress/elias.h"
#include "optim/compress/per_tensor.h"
#include "optim/compress/uniform16.h"

namespace tg {

namespace {

constexpr int64_t kChunk = 1024;  // values; a chunk of codes of any width fills whole bytes

std::span<std::byte> from(std::span<std::byte> bytes, int64_t at) {
  return bytes.subspan(static_cast<std::size_t>(at));
}
std::span<const std::byte> from(std::span<const std::byte> bytes, int64_t at) {
  return bytes.subspan(static_cast<std::size_t>(at));
}

// Code: what holds sign and level.
template <class Code>
class Qsgd : public TensorCoder {
 public:
  explicit Qsgd(const QsgdOptions& options)
      : o_(options), bits_(code_bits(options.levels)), sign_bit_(uint32_t{1} << (bits_ - 1)) {}

  std::string describe() const override { return tg::describe(o_); }
  int64_t unit(const Layout::Entry&) const override { return o_.bucket; }
  int64_t max_encoded_bytes(const Layout::Entry&, int64_t, int64_t count) const override {
    return qsgd_max_encoded_bytes(o_, count);
  }

  int64_t encode(const Layout::Entry& entry, int64_t begin, View values, const Stream& stream,
                 std::span<std::byte> out) override {
    if (o_.encoding == QsgdEncoding::fixed) return encode_fixed(entry, begin, values, stream, out);
    const int64_t norms = norm_bytes(values.size);
    EliasWriter to(from(out, norms));
    for (int64_t b = 0; b * o_.bucket < values.size; ++b) {
      const int64_t first = b * o_.bucket;
      const View bucket = values.part(first, std::min(o_.bucket, values.size - first));
      const auto [norm, sent] = norm_to_send(o_, entry.name, begin + first, bucket);
      write_norm(sent, out.data() + 4 * b);
      if (norm == 0) continue;
      uint64_t before = 0;
      for_each_chunk(norm, entry, begin + first, bucket, stream, [&](int64_t at, const Code* codes, int64_t n) {
        if (o_.encoding == QsgdEncoding::elias_dense)
          put_dense(to, codes, n);
        else
          before = put_sparse(to, static_cast<uint64_t>(at), before, codes, n);
      });
      if (o_.encoding == QsgdEncoding::elias_sparse) table_.put(to, static_cast<uint64_t>(bucket.size) + 1 - before);
    }
    return norms + to.finish();
  }

  int64_t decode(const Layout::Entry& entry, int64_t, std::span<const std::byte> bytes, Span out) const override {
    if (o_.encoding == QsgdEncoding::fixed) return decode_fixed(entry, bytes, out);
    const int64_t norms = norm_bytes(out.size);
    EliasReader reader(from(bytes, std::min(norms, std::ssize(bytes))));
    for (int64_t b = 0; b * o_.bucket < out.size; ++b) {
      const int64_t first = b * o_.bucket;
      const Span bucket = out.part(first, std::min(o_.bucket, out.size - first));
      const float norm = read_norm(o_, bytes, b, entry.name);
      if (norm == 0 || o_.encoding == QsgdEncoding::elias_sparse) std::fill(bucket.begin(), bucket.end(), 0.0f);
      if (norm == 0) continue;
      const BucketScale scale(norm, o_.levels);
      if (o_.encoding == QsgdEncoding::elias_sparse)
        get_sparse(reader, scale, bucket);
      else
        get_dense(reader, scale, bucket);
    }
    return norms + reader.finish();
  }

 private:
  [[noreturn]] void no_code(const Layout::Entry& entry) const {
    fail("codec {}: a code in {} that is none", o_.name, entry.name);
  }

  int64_t norm_bytes(int64_t count) const { return 4 * ((count + o_.bucket - 1) / o_.bucket); }

  // Calls f(at, codes, n) for each chunk of codes of a bucket; behind the codes there are zeros up to a whole word.
  // `begin` is the bucket's first element in its tensor.
  template <class F>
  void for_each_chunk(float norm, const Layout::Entry& entry, int64_t begin, View bucket, const Stream& stream,
                      F&& f) const {
    const BucketScale scale(norm, o_.levels);
    // Random numbers come in groups, counted from the tensor's start.
    alignas(64) uint16_t uniforms[kChunk + kUniformGroup];
    alignas(64) Code codes[kChunk + sizeof(uint64_t)];
    for (int64_t at = 0; at < bucket.size; at += kChunk) {
      const int64_t n = std::min(kChunk, bucket.size - at);
      const int64_t within = (begin + at) % kUniformGroup;
      uniforms16(stream, entry.offset, begin + at - within, (within + n + kUniformGroup - 1) / kUniformGroup, uniforms);
      quantize(scale, bucket.data + at, uniforms + within, n, codes);
      std::fill_n(codes + n, sizeof(uint64_t), Code{0});
      f(at, codes, n);
    }
  }

  int64_t encode_fixed(const Layout::Entry& entry, int64_t begin, View values, const Stream& stream,
                       std::span<std::byte> out) const {
    int64_t used = 0;
    for (int64_t first = 0; first < values.size; first += o_.bucket) {
      const View bucket = values.part(first, std::min(o_.bucket, values.size - first));
      const auto [norm, sent] = norm_to_send(o_, entry.name, begin + first, bucket);
      std::byte* const words = out.data() + used + 4;
      write_norm(sent, out.data() + used);
      used = used + 4 + (bucket.size * bits_ + 7) / 8;
      if (norm == 0)
        std::fill(words, out.data() + used, std::byte{0});
      else
        for_each_chunk(norm, entry, begin + first, bucket, stream, [&](int64_t at, const Code* codes, int64_t n) {
          pack(codes, n, bits_, words + at * bits_ / 8);
        });
    }
    return used;
  }

  int64_t decode_fixed(const Layout::Entry& entry, std::span<const std::byte> bytes, Span out) const {
    const int64_t size = qsgd_max_encoded_bytes(o_, out.size);
    if (size > std::ssize(bytes)) fail("codec {}: the message ends within {}", o_.name, entry.name);
    alignas(64) Code codes[kChunk];
    int64_t used = 0;
    for (int64_t first = 0; first < out.size; first += o_.bucket) {
      const Span bucket = out.part(first, std::min(o_.bucket, out.size - first));
      const float norm = read_norm(o_, from(bytes, used), 0, entry.name);
      const std::byte* const words = bytes.data() + used + 4;
      used = used + 4 + (bucket.size * bits_ + 7) / 8;
      if (norm == 0) {
        if (std::any_of(words, bytes.data() + used, [](std::byte b) { return b != std::byte{0}; })) no_code(entry);
        std::fill(bucket.begin(), bucket.end(), 0.0f);
        continue;
      }
      const BucketScale scale(norm, o_.levels);
      for (int64_t at = 0; at < bucket.size; at += kChunk) {
        const int64_t n = std::min(kChunk, bucket.size - at);
        const bool filled = unpack(words + at * bits_ / 8, n, bits_, codes);
        if (!dequantize(scale, codes, n, bucket.data + at) || !filled) no_code(entry);
      }
    }
    return used;
  }

  void put_sign_and_level(EliasWriter& to, uint32_t code) const {
    const EliasTable::Word level = table_.word(code & (sign_bit_ - 1));
    to.put((code & sign_bit_) != 0 ? level.code | uint64_t{1} << level.bits : level.code, level.bits + 1);
  }

  // Returns the place, counted from 1, of the last code that is not 0: `before` if there is none among these.
  uint64_t put_sparse(EliasWriter& to, uint64_t at, uint64_t before, const Code* codes, int64_t n) const {
    constexpr int kCodesInWord = sizeof(uint64_t) / sizeof(Code), kCodeBits = 8 * sizeof(Code);
    for (int64_t i = 0; i < n; i += kCodesInWord) {
      uint64_t word = 0;
      std::memcpy(&word, codes + i, sizeof word);
      while (word != 0) {
        const int k = std::countr_zero(word) / kCodeBits;
        const uint64_t place = at + static_cast<uint64_t>(i + k) + 1;
        table_.put(to, place - before);
        put_sign_and_level(to, codes[i + k]);
        before = place;
        word &= ~(uint64_t{std::numeric_limits<Code>::max()} << (k * kCodeBits));
      }
    }
    return before;
  }

  void get_sparse(EliasReader& reader, const BucketScale& scale, Span bucket) const {
    const uint64_t end = static_cast<uint64_t>(bucket.size) + 1;
    for (uint64_t place = table_.get(reader, end); place < end; place += table_.get(reader, end - place)) {
      const uint32_t negative = static_cast<uint32_t>(reader.get(1));
      const float magnitude = scale.magnitude(static_cast<uint32_t>(table_.get(reader, scale.levels)));
      bucket.data[place - 1] = negative == 0 ? magnitude : -magnitude;
    }
  }

  void put_dense(EliasWriter& to, const Code* codes, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t level = codes[i] & (sign_bit_ - 1);
      const EliasTable::Word word = table_.word(level + 1);
      if (level == 0)
        to.put(0, 1);
      else
        to.put(word.code << 1 | static_cast<uint64_t>((codes[i] & sign_bit_) != 0), word.bits + 1);
    }
  }

  void get_dense(EliasReader& reader, const BucketScale& scale, Span bucket) const {
    for (float& value : bucket) {
      const auto level = static_cast<uint32_t>(table_.get(reader, uint64_t{scale.levels} + 1) - 1);
      const bool negative = level > 0 && reader.get(1) == 1;
      value = negative ? -scale.magnitude(level) : scale.magnitude(level);
    }
  }

  QsgdOptions o_;
  int bits_;
  uint32_t sign_bit_;
  const EliasTable& table_ = EliasTable::instance();
};

}  // namespace

std::unique_ptr<Codec> make_qsgd_codec(const Layout& layout, const QsgdOptions& options) {
  std::unique_ptr<TensorCoder> coder;
  if (code_bits(options.levels) <= 8)
    coder = std::make_unique<Qsgd<uint8_t>>(options);
  else
    coder = std::make_unique<Qsgd<uint16_t>>(options);
  return make_per_tensor_codec(options.name, layout, options.keep, std::move(coder));
}

}  // namespace tg
