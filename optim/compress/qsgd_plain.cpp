// QSGD as one would write it down: value by value, bit by bit. qsgd.cpp makes the same bytes in vectors.

#include <algorithm>
#include <cmath>

#include "optim/compress/elias.h"
#include "optim/compress/per_tensor.h"
#include "optim/compress/qsgd.h"
#include "optim/compress/uniform16.h"

namespace tg {

namespace {

using FixedWriter = BitWriter<BitOrder::low_first>;
using FixedReader = BitReader<BitOrder::low_first>;

struct Quantized {
  bool negative;
  uint32_t level;  // 0 to s
};

// r = |v| / norm * s lies between the levels l and l + 1; up with probability r - l. Here r is counted in 1/65536, to
// the nearest, and `uniform` is one of 65536 equally likely numbers.
Quantized quantize_one(float v, const BucketScale& scale, uint16_t uniform) {
  if (std::abs(v) >= scale.norm) return {v < 0, scale.levels};
  const auto r = static_cast<uint32_t>(std::abs(v) * scale.up * scale.per_norm + 0.5f);
  const uint32_t level = std::min((r + uniform) / 65536, scale.levels);
  return {v < 0 && level > 0, level};
}

float value_of(Quantized q, const BucketScale& scale) {
  return q.negative ? -scale.magnitude(q.level) : scale.magnitude(q.level);
}

// Fixed words: the level in the lowest bits, the sign above it.
void put_fixed(FixedWriter& to, const std::vector<Quantized>& bucket, int64_t levels) {
  for (const Quantized& q : bucket) {
    to.put(q.level, code_bits(levels) - 1);
    to.put(q.negative, 1);
  }
}

void get_fixed(FixedReader& from, std::vector<Quantized>& bucket, int64_t levels) {
  for (Quantized& q : bucket) {
    q.level = static_cast<uint32_t>(from.get(code_bits(levels) - 1));
    q.negative = from.get(1) == 1;
    require(q.level <= levels && !(q.negative && q.level == 0), "codec qsgd: a code that is none");
  }
}

// The paper's Code_s: for each level that is not 0 the distance from the one before, the sign, the level. The paper has
// no end mark; ours is the distance to the place behind the bucket's end.
void put_sparse(EliasWriter& to, const std::vector<Quantized>& bucket) {
  uint64_t before = 0;  // places are counted from 1
  for (uint64_t place = 1; place <= bucket.size(); ++place) {
    const Quantized& q = bucket[place - 1];
    if (q.level == 0) continue;
    elias_put(to, place - before);
    to.put(q.negative, 1);
    elias_put(to, q.level);
    before = place;
  }
  elias_put(to, bucket.size() + 1 - before);
}

void get_sparse(EliasReader& from, std::vector<Quantized>& bucket, int64_t levels) {
  std::fill(bucket.begin(), bucket.end(), Quantized{false, 0});
  for (uint64_t place = 0;;) {
    place += elias_get(from, bucket.size() + 1 - place);
    if (place == bucket.size() + 1) return;
    Quantized& q = bucket[place - 1];
    q.negative = from.get(1) == 1;
    q.level = static_cast<uint32_t>(elias_get(from, static_cast<uint64_t>(levels)));
  }
}

// The paper's Code'_s: every level, 1 added since 0 has no code word; the sign of those that are not 0.
void put_dense(EliasWriter& to, const std::vector<Quantized>& bucket) {
  for (const Quantized& q : bucket) {
    elias_put(to, q.level + 1);
    if (q.level > 0) to.put(q.negative, 1);
  }
}

void get_dense(EliasReader& from, std::vector<Quantized>& bucket, int64_t levels) {
  for (Quantized& q : bucket) {
    q.level = static_cast<uint32_t>(elias_get(from, static_cast<uint64_t>(levels) + 1) - 1);
    q.negative = q.level > 0 && from.get(1) == 1;
  }
}

class PlainQsgd : public TensorCoder {
 public:
  explicit PlainQsgd(const QsgdOptions& options) : o_(options) {}

  std::string describe() const override { return tg::describe(o_); }
  int64_t unit(const Layout::Entry&) const override { return o_.bucket; }
  int64_t max_encoded_bytes(const Layout::Entry&, int64_t, int64_t count) const override {
    return qsgd_max_encoded_bytes(o_, count);
  }

  int64_t encode(const Layout::Entry& entry, int64_t begin, View values, const Stream& stream,
                 std::span<std::byte> out) override {
    int64_t at = 0;  // bytes written: with Elias codes all norms come first
    const bool fixed = o_.encoding == QsgdEncoding::fixed;
    if (!fixed) at = 4 * buckets(values.size);
    EliasWriter elias(out.subspan(static_cast<std::size_t>(at)));
    for (int64_t b = 0; b < buckets(values.size); ++b) {
      const View bucket = bucket_of(values, b);
      const auto [norm, sent] = norm_to_send(o_, entry.name, begin + b * o_.bucket, bucket);
      write_norm(sent, out.data() + (fixed ? at : 4 * b));
      std::vector<Quantized> quantized(static_cast<std::size_t>(bucket.size), Quantized{false, 0});
      const BucketScale scale(norm, o_.levels);
      for (int64_t i = 0; norm > 0 && i < bucket.size; ++i)
        quantized[static_cast<std::size_t>(i)] =
            quantize_one(bucket[i], scale, uniform16(stream, entry.offset, begin + b * o_.bucket + i));
      if (fixed) {
        FixedWriter to(out.subspan(static_cast<std::size_t>(at + 4)));
        put_fixed(to, quantized, o_.levels);
        at += 4 + to.finish();
      } else if (norm > 0) {
        o_.encoding == QsgdEncoding::elias_sparse ? put_sparse(elias, quantized) : put_dense(elias, quantized);
      }
    }
    return fixed ? at : at + elias.finish();
  }

  int64_t decode(const Layout::Entry& entry, int64_t, std::span<const std::byte> bytes, Span out) const override {
    int64_t at = 0;  // bytes read
    const bool fixed = o_.encoding == QsgdEncoding::fixed;
    if (!fixed) at = std::min(4 * buckets(out.size), std::ssize(bytes));
    EliasReader elias(bytes.subspan(static_cast<std::size_t>(at)));
    for (int64_t b = 0; b < buckets(out.size); ++b) {
      const Span bucket = bucket_of(out, b);
      const float norm = fixed ? read_norm(o_, bytes.subspan(static_cast<std::size_t>(at)), 0, entry.name)
                               : read_norm(o_, bytes, b, entry.name);
      std::vector<Quantized> quantized(static_cast<std::size_t>(bucket.size), Quantized{false, 0});
      if (fixed) {
        FixedReader from(bytes.subspan(static_cast<std::size_t>(at + 4)));
        get_fixed(from, quantized, o_.levels);
        at += 4 + from.finish();
      } else if (norm > 0) {
        o_.encoding == QsgdEncoding::elias_sparse ? get_sparse(elias, quantized, o_.levels)
                                                  : get_dense(elias, quantized, o_.levels);
      }
      const BucketScale scale(norm, o_.levels);
      for (int64_t i = 0; i < bucket.size; ++i) {
        const Quantized q = quantized[static_cast<std::size_t>(i)];
        require(norm > 0 || q.level == 0, "codec {}: a bucket of {} has the norm 0 and a level above 0", o_.name,
                entry.name);
        bucket[i] = norm > 0 ? value_of(q, scale) : 0.0f;
      }
    }
    return fixed ? at : at + elias.finish();
  }

 private:
  int64_t buckets(int64_t count) const { return (count + o_.bucket - 1) / o_.bucket; }
  template <class T>
  BasicSpan<T> bucket_of(const BasicSpan<T>& values, int64_t b) const {
    return values.part(b * o_.bucket, std::min(o_.bucket, values.size - b * o_.bucket));
  }

  QsgdOptions o_;
};

}  // namespace

std::unique_ptr<Codec> make_plain_qsgd_codec(const Layout& layout, const QsgdOptions& options) {
  return make_per_tensor_codec(options.name, layout, options.keep, std::make_unique<PlainQsgd>(options));
}

}  // namespace tg
