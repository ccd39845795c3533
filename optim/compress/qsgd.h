#pragma once
// QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic 2017): each value of a bucket is rounded at random to one of s levels
// of the bucket's norm, so that its mean is the value, and travels as sign and level.
//
//   Q_s(v)_i = ||v|| sgn(v_i) xi_i,  xi_i = (l + 1) / s with probability p_i = |v_i| / ||v|| * s - l, else l / s
//
// Tensors are cut into buckets of d values from their start; the last may be shorter. A bucket of zeros stays so; a
// value that lies on a level, among them the only one of its bucket that is not 0, comes back as it was; -0.0 comes
// back as 0.0. Values that are not finite, or whose norm is not, are an Error that names the tensor.
// The bytes: docs/codecs.md.

#include <memory>

#include "optim/compress/codec.h"
#include "optim/compress/keep.h"
#include "optim/compress/quantize.h"

namespace tg {

enum class QsgdEncoding { fixed, elias_sparse, elias_dense };

struct QsgdOptions {
  int64_t levels = 7;                           // s, 1 to kMostLevels
  int64_t bucket = 512;                         // d
  BucketNorm norm = BucketNorm::max;            // the paper's theory has l2, its experiments max
  QsgdEncoding encoding = QsgdEncoding::fixed;  // the paper's theory has Elias codes, its experiments fixed words
  KeepFloat32 keep{};

  static constexpr int64_t kLargestBucket = 1'000'000'000;
  // Names with their own defaults: the options of any of them may be set.
  static SpecInfo info(const char* name, const char* summary, int bits, int64_t bucket, int64_t min_elements);
  static QsgdOptions from(const Spec& spec);
};

// `name` is for messages, and lives as long as the program.
std::unique_ptr<Codec> make_qsgd_codec(const char* name, const Layout& layout, const QsgdOptions& options);

// The same bytes, written to be read.
std::unique_ptr<Codec> make_plain_qsgd_codec(const Layout& layout, const QsgdOptions& options);

// A bucket's norm as it travels: float32, little-endian. Throws Error for values, or bytes, that have no such norm;
// `tensor` and `element` say where.
float norm_to_send(const QsgdOptions& options, const std::string& tensor, int64_t element, View bucket);
void write_norm(float norm, std::byte* out);
float read_norm(std::span<const std::byte> bytes, int64_t index, const std::string& tensor);  // the index-th of bytes

// The most bytes that `count` values take, cut into buckets.
int64_t qsgd_max_encoded_bytes(const QsgdOptions& options, int64_t count);

// "7 levels in 4 bits, buckets of 512, max norm"
std::string describe(const QsgdOptions& options);

}  // namespace tg
