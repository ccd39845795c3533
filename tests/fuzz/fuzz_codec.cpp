// Any bytes as a codec's message: values with zeros in the gaps between tensors, or tg::Error.
// The first byte picks the codec.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "framework/core/error.h"
#include "optim/registry.h"

namespace {

tg::Layout layout() {
  tg::Layout layout;
  layout.add("small", {5});
  layout.add("large", {900});
  layout.add("last", {33});
  return layout;
}

std::vector<std::unique_ptr<tg::Codec>> all_codecs() {
  std::vector<std::string> specs;
  for (const tg::SpecInfo& info : tg::codec_infos()) specs.push_back(info.name);
  specs.push_back("onebit:min-elements=6");
  specs.push_back("onebit:min-elements=6,warm-start=1");
  specs.push_back("terngrad:min-elements=6,error-feedback=true");
  for (const char* encoding : {"fixed", "elias-sparse", "elias-dense"})
    for (const char* levels : {"1", "6", "300"})
      specs.push_back(fmt::format("qsgd:levels={},bucket=32,min-elements=6,encoding={}", levels, encoding));
  std::vector<std::unique_ptr<tg::Codec>> codecs;
  for (const std::string& spec : specs)
    codecs.push_back(tg::make_codec(tg::Spec::parse(spec, tg::codec_infos(), "codec"), layout()));
  return codecs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tg::Layout vector = layout();
  static const std::vector<std::unique_ptr<tg::Codec>> codecs = all_codecs();
  if (size == 0) return 0;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data) + 1, size - 1);
  std::vector<float> out(static_cast<size_t>(vector.size()), 1.0f);
  try {
    codecs[data[0] % codecs.size()]->decode(bytes, 0, {out.data(), vector.size()});
    for (const tg::Layout::Entry& entry : vector.entries())
      for (int64_t i = entry.offset + entry.shape.count(); i % 16 != 0; ++i)
        if (out[static_cast<size_t>(i)] != 0) std::abort();
  } catch (const tg::Error&) {
    // refused, as it should be
  }
  return 0;
}
