// How fast codecs turn gradients into messages and back, beside memcpy of the same floats; and from what that follows:
// the fastest link on which a codec saves time.

#include <algorithm>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <vector>

#include "dist/launch/commands.h"
#include "dist/launch/table.h"
#include "framework/core/random.h"
#include "framework/core/tensor.h"
#include "optim/registry.h"

namespace tg {
namespace {

constexpr int kFewest = 5;
constexpr const char* kSparse = "qsgd:levels=1,norm=l2,encoding=elias-sparse";
constexpr const char* kOneBit = "onebit:error-feedback=false";
constexpr const char* kDense = "qsgd:levels=22,norm=l2,encoding=elias-dense";  // the paper's levels: sqrt(512)

// Of this thread, which leaves out the time that other programs held the core.
double cpu_seconds() {
  timespec t = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

struct Row {
  std::string codec;
  double bits;                  // a value
  double encode, decode, copy;  // GB/s of float32
  // A message of ratio r, encoded at E and decoded at D GB/s, pays on links of B GB/s where
  // (1 - 1/r) / B > 1/E + 1/D.
  double break_even_gbit() const { return 8 * (1 - bits / 32) / (1 / encode + 1 / decode); }
};

// Medians, in turn with memcpy.
Row measure(const std::string& text, const Tensor& gradient, Tensor& out, const BenchCodecOptions& options) {
  const Spec spec = Spec::parse(text, codec_infos(), "codec");
  const auto codec = make_codec(spec, flat_layout(options.parameters));
  Tensor message = Tensor::zeros({codec->max_encoded_bytes(0, options.parameters)}, DType::u8);
  const std::span<std::byte> bytes(static_cast<std::byte*>(message.raw_mutable()),
                                   static_cast<std::size_t>(message.shape().count()));
  const View values = gradient.view();
  const Span back = out.span();
  std::vector<double> encode, decode, copy;
  int64_t used = 0;
  for (const double end = cpu_seconds() + options.seconds; std::ssize(encode) < kFewest || cpu_seconds() < end;) {
    const Stream stream = Stream(1).split("step", encode.size());
    const double t0 = cpu_seconds();
    used = codec->encode(values, 0, stream, bytes);
    const double t1 = cpu_seconds();
    codec->decode(bytes.first(static_cast<std::size_t>(used)), 0, back);
    const double t2 = cpu_seconds();
    std::memcpy(back.data, values.data, sizeof(float) * static_cast<std::size_t>(values.size));
    const double t3 = cpu_seconds();
    encode.push_back(t1 - t0);
    decode.push_back(t2 - t1);
    copy.push_back(t3 - t2);
  }
  const auto n = static_cast<double>(options.parameters);
  const double gigabytes = 1e-9 * sizeof(float) * n;
  return {spec.str(), 8 * static_cast<double>(used) / n, gigabytes / median(encode), gigabytes / median(decode),
          gigabytes / median(copy)};
}

}  // namespace

int bench_codec(const BenchCodecOptions& options) {
  Tensor gradient = Tensor::empty({options.parameters}), out = Tensor::zeros({options.parameters});
  // Gaussian; every so many values repeat, since drawing them takes longer than measuring.
  constexpr int64_t kDrawn = 1 << 20;
  const Stream stream = Stream(1).split("gradient");
  const Span values = gradient.span();
  for (int64_t i = 0; i < values.size; ++i)
    values[i] = i < kDrawn ? 1e-3f * stream.normal(static_cast<uint64_t>(i)) : values[i - kDrawn];

  std::vector<std::string> specs;
  if (!options.codec.empty()) {
    specs.push_back(options.codec);
  } else {
    for (const SpecInfo& info : codec_infos()) specs.push_back(info.name);
    specs.insert(specs.end(), {kOneBit, kSparse, kDense});
  }
  std::vector<Row> rows;
  for (const std::string& spec : specs) rows.push_back(measure(spec, gradient, out, options));

  if (options.json) {
    nlohmann::ordered_json json{{"parameters", options.parameters}, {"threads", 1}};
    for (const Row& row : rows)
      json["codecs"].push_back({{"codec", row.codec},
                                {"bits_a_value", row.bits},
                                {"encode_gb_per_s", row.encode},
                                {"decode_gb_per_s", row.decode},
                                {"memcpy_gb_per_s", row.copy},
                                {"encode_share_of_memcpy", row.encode / row.copy},
                                {"decode_share_of_memcpy", row.decode / row.copy},
                                {"break_even_gbit_per_s", row.break_even_gbit()}});
    say(json.dump() + "\n");
    return 0;
  }
  std::vector<std::vector<std::string>> cells;
  for (const Row& row : rows)
    cells.push_back({row.codec, fmt::format("{:.3f}", row.bits), fmt::format("{:.2f}", row.encode),
                     fmt::format("{:.2f}", row.encode / row.copy), fmt::format("{:.2f}", row.decode),
                     fmt::format("{:.2f}", row.decode / row.copy), fmt::format("{:.2f}", row.copy),
                     fmt::format("{:.1f}", row.break_even_gbit())});
  say(fmt::format("{} parameters, 1 thread; GB/s of float32, and as a share of memcpy; a codec saves time on links "
                  "below its break-even\n\n",
                  options.parameters) +
      table({"codec", "bits a value", "encode", "share", "decode", "share", "memcpy", "break-even Gbit/s"}, cells, 1));
  return 0;
}

}  // namespace tg
