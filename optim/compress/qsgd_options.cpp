// What both forms of QSGD share: options, sizes, and a bucket's norm as it travels.

#include <bit>
#include <cmath>
#include <cstring>

#include "optim/compress/elias.h"
#include "optim/compress/error_feedback.h"
#include "optim/compress/per_tensor.h"
#include "optim/compress/qsgd.h"

namespace tg {

namespace {

constexpr int64_t kNormBytes = 4;

int64_t bytes_of(int64_t bits) { return (bits + 7) / 8; }

}  // namespace

SpecInfo QsgdOptions::info(const char* name, const char* summary, int bits, int64_t bucket, int64_t min_elements) {
  SpecInfo info{
      name,
      summary,
      {{"bits", fmt::format("{}", bits), "2, 4 or 8 bits a value: 1, 7 or 127 levels and a sign"},
       {"levels", "0", "levels above zero, 1 to 32767; 0: as many as the bits have"},
       {"bucket", fmt::format("{}", bucket), "values that share a norm, 1 to 1000000000"},
       {"norm", "max", "what the levels divide: max, or l2 as in the paper's theory"},
       {"encoding", "fixed", "fixed words, elias-sparse for few levels and l2, or elias-dense for many levels"}}};
  for (OptionInfo& option : KeepFloat32::options(min_elements)) info.options.push_back(std::move(option));
  info.options.push_back(error_feedback_option(false));
  return info;
}

QsgdOptions QsgdOptions::from(const Spec& spec) {
  QsgdOptions options;
  const int64_t bits = spec.integer("bits", 2, 8), levels = spec.integer("levels", 0, kMostLevels);
  require(std::has_single_bit(static_cast<uint64_t>(bits)), "codec '{}': bits={} is not 2, 4 or 8", spec.name(), bits);
  require(levels == 0 || !spec.given("bits"),
          "codec '{}': bits and levels both say how many levels there are; leave one out", spec.name());
  options.levels = levels != 0 ? levels : (int64_t{1} << (bits - 1)) - 1;
  options.bucket = spec.integer("bucket", 1, kLargestBucket);
  options.norm = spec.choice("norm", {"l2", "max"}) == "l2" ? BucketNorm::l2 : BucketNorm::max;
  const std::string& encoding = spec.choice("encoding", {"fixed", "elias-sparse", "elias-dense"});
  options.encoding = encoding == "fixed"          ? QsgdEncoding::fixed
                     : encoding == "elias-sparse" ? QsgdEncoding::elias_sparse
                                                  : QsgdEncoding::elias_dense;
  options.contraction = error_feedback(spec);
  options.keep = KeepFloat32::from(spec);
  return options;
}

double qsgd_variance_bound(const QsgdOptions& options, int64_t n) {
  // In units of a level: r_i = |v_i| / norm * s, which goes up with probability p_i = r_i - floor(r_i).
  const auto s = static_cast<double>(options.levels), count = static_cast<double>(n);
  // max: sum p (1 - p) / sum r^2 is largest where one r is s and all others are the same, below 1.
  if (options.norm == BucketNorm::max) return (std::sqrt(1 + (count - 1) / (s * s)) - 1) / 2;
  // l2: sum r^2 = s^2, and p (1 - p) <= 1/4 is reached at 1/2; or else all r are the same, below it.
  return count <= 4 * s * s ? count / (4 * s * s) : std::sqrt(count) / s - 1;
}

SentNorm norm_to_send(const QsgdOptions& options, const std::string& tensor, int64_t element, View bucket) {
  const float norm = options.clip > 0 ? clipped_max(options.clip, bucket.data, bucket.size)
                                      : bucket_norm(options.norm, bucket.data, bucket.size);
  if (!std::isfinite(norm)) {
    require_finite(options.name, tensor, element, bucket);
    fail("codec {}: the norm of elements {} to {} of {} is too large for a float32", options.name, element,
         element + bucket.size, tensor);
  }
  if (!options.contraction) return {norm, norm};
  const auto sent = static_cast<float>(norm / (1 + qsgd_variance_bound(options, bucket.size)));
  return sent > 0 ? SentNorm{norm, sent} : SentNorm{0, 0};
}

void write_norm(float norm, std::byte* out) { std::memcpy(out, &norm, kNormBytes); }

float read_norm(const QsgdOptions& options, std::span<const std::byte> bytes, int64_t index,
                const std::string& tensor) {
  if ((index + 1) * kNormBytes > std::ssize(bytes)) fail("codec {}: the message ends within {}", options.name, tensor);
  float norm = 0;
  std::memcpy(&norm, bytes.data() + index * kNormBytes, kNormBytes);
  if (!std::isfinite(norm) || std::signbit(norm))
    fail("codec {}: a bucket of {} has a norm of {}", options.name, tensor, norm);
  return norm;
}

int64_t qsgd_max_encoded_bytes(const QsgdOptions& options, int64_t count) {
  const int64_t whole = count / options.bucket, rest = count % options.bucket, buckets = whole + (rest > 0 ? 1 : 0);
  const auto levels = static_cast<uint64_t>(options.levels);
  switch (options.encoding) {
    case QsgdEncoding::fixed: {
      const int bits = code_bits(options.levels);
      return buckets * kNormBytes + whole * bytes_of(options.bucket * bits) + bytes_of(rest * bits);
    }
    case QsgdEncoding::elias_sparse:
      // All values at the highest level; then every gap is 1, and so is the end mark.
      return buckets * kNormBytes + bytes_of(count * (2 + elias_bits(levels)) + buckets);
    case QsgdEncoding::elias_dense: return buckets * kNormBytes + bytes_of(count * (elias_bits(levels + 1) + 1));
  }
  return 0;
}

std::string describe(const QsgdOptions& options) {
  const std::string code = options.encoding == QsgdEncoding::fixed ? fmt::format("{} bits", code_bits(options.levels))
                           : options.encoding == QsgdEncoding::elias_sparse ? "Elias' sparse code"
                                                                            : "Elias' dense code";
  const std::string buckets = options.bucket == QsgdOptions::kLargestBucket
                                  ? "a bucket for each tensor"
                                  : fmt::format("buckets of {}", options.bucket);
  const std::string cut = options.clip > 0 ? fmt::format(" of values cut at {} standard deviations", options.clip) : "";
  return fmt::format("{} level{} in {}, {}, {} norm{}{}", options.levels, options.levels == 1 ? "" : "s", code, buckets,
                     options.norm == BucketNorm::l2 ? "l2" : "max", cut,
                     options.contraction ? ", scaled to a contraction" : "");
}

}  // namespace tg
