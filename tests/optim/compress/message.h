#pragma once
// Codecs by their spec, and what comes back from them.

#include <cmath>
#include <functional>
#include <vector>

#include "optim/compress/qsgd.h"
#include "optim/registry.h"
#include "tests/optim/bits.h"

namespace tg::test {

using Bytes = std::vector<std::byte>;

inline QsgdOptions qsgd_options(const std::string& spec) {
  return QsgdOptions::from(Spec::parse(spec, codec_infos(), "codec"));
}
inline std::unique_ptr<Codec> codec(const std::string& spec, const Layout& layout) {
  return make_codec(Spec::parse(spec, codec_infos(), "codec"), layout);
}

// Of elements [first, first + values.size).
inline Bytes encoded(Codec& codec, View values, const Stream& stream, int64_t first = 0) {
  Bytes bytes(static_cast<size_t>(codec.max_encoded_bytes(first, values.size)));
  bytes.resize(static_cast<size_t>(codec.encode(values, first, stream, bytes)));
  return bytes;
}
inline std::vector<float> decoded(const Codec& codec, const Bytes& bytes, int64_t count, int64_t first = 0) {
  std::vector<float> out(static_cast<size_t>(count), -123.0f);
  codec.decode(bytes, first, {out.data(), count});
  return out;
}
inline std::vector<float> sent(Codec& codec, const std::vector<float>& v, const Stream& stream) {
  return decoded(codec, encoded(codec, view_of(v), stream), std::ssize(v));
}

inline std::vector<float> gaussian(int64_t n, uint64_t seed = 1, double sigma = 1e-3) {
  Generator random(Stream(seed).split("test"));
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = static_cast<float>(sigma * random.normal());
  return v;
}

inline std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tg::test
