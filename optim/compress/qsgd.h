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
  const char* name = "qsgd";                    // for messages; lives as long as the program
  int64_t levels = 7;                           // s, 1 to kMostLevels
  int64_t bucket = 512;                         // d
  BucketNorm norm = BucketNorm::max;            // the paper's theory has l2, its experiments max
  QsgdEncoding encoding = QsgdEncoding::fixed;  // the paper's theory has Elias codes, its experiments fixed words
  // TernGrad's clipping: values beyond so many standard deviations of their bucket travel as that. 0: none. With max.
  double clip = 0;
  // For error feedback: what is sent is Q / (1 + omega), omega = qsgd_variance_bound() of the bucket: a contraction.
  bool contraction = false;
  KeepFloat32 keep{};

  static constexpr int64_t kLargestBucket = 1'000'000'000;
  // Names with their own defaults: the options of any of them may be set.
  static SpecInfo info(const char* name, const char* summary, int bits, int64_t bucket, int64_t min_elements);
  static QsgdOptions from(const Spec& spec);
};

std::unique_ptr<Codec> make_qsgd_codec(const Layout& layout, const QsgdOptions& options);

// The same bytes, written to be read.
std::unique_ptr<Codec> make_plain_qsgd_codec(const Layout& layout, const QsgdOptions& options);

// The least omega with E |Q(v) - v|^2 <= omega |v|^2 for all buckets of n values.
double qsgd_variance_bound(const QsgdOptions& options, int64_t n);

// What a bucket's levels divide, and what travels as its norm: the same but for a contraction.
struct SentNorm {
  float norm, sent;  // both 0, or neither
};
// Throws Error for values that have no such norm; `tensor` and `element` say where.
SentNorm norm_to_send(const QsgdOptions& options, const std::string& tensor, int64_t element, View bucket);
// A norm as it travels: float32, little-endian. Reads the index-th of bytes, and throws Error if there is none.
void write_norm(float norm, std::byte* out);
float read_norm(const QsgdOptions& options, std::span<const std::byte> bytes, int64_t index, const std::string& tensor);

// The most bytes that `count` values take, cut into buckets.
int64_t qsgd_max_encoded_bytes(const QsgdOptions& options, int64_t count);

// "7 levels in 4 bits, buckets of 512, max norm"
std::string describe(const QsgdOptions& options);

}  // namespace tg
