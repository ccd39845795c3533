#include "datasets/synthetic.h"

#include <algorithm>
#include <array>

#include "framework/core/random.h"

namespace tg {
namespace {

constexpr int64_t kSide = 28, kPixels = kSide * kSide, kSquare = 4, kClasses = 10;
constexpr int kPatternDeviation = 8, kNoise = 80;  // in steps of 1/255; a good model ends near 0 % error, not at once

Dataset part(const char* name, int64_t count, const std::vector<int>& patterns, const Stream& noise) {
  Dataset data;
  data.name = name;
  data.height = data.width = kSide;
  data.channels = 1;
  for (int64_t c = 0; c < kClasses; ++c) data.class_names.push_back(std::to_string(c));
  data.pixels.resize(static_cast<size_t>(count * kPixels));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = i % kClasses;
    data.labels.push_back(static_cast<int32_t>(label));
    uint8_t* picture = data.pixels.data() + i * kPixels;
    std::array<uint32_t, 4> words{};  // 16 bytes of noise; kPixels is a multiple of 16
    for (int64_t p = 0; p < kPixels; ++p) {
      if (p % 16 == 0) words = noise.bits(static_cast<uint64_t>(i * kPixels + p) / 16);
      const uint32_t byte = words[static_cast<size_t>(p % 16 / 4)] >> 8 * (p % 4) & 0xff;
      const int shift = static_cast<int>(byte) * (2 * kNoise + 1) / 256 - kNoise;
      const int64_t square = p / kSide / kSquare * (kSide / kSquare) + p % kSide / kSquare;
      const int pattern = patterns[static_cast<size_t>(label * kPixels / (kSquare * kSquare) + square)];
      picture[p] = static_cast<uint8_t>(std::clamp(128 + pattern + shift, 0, 255));
    }
  }
  return data;
}

}  // namespace

Splits synthetic_dataset(uint64_t seed) {
  const Stream stream = Stream(seed).split("synthetic");
  Generator random(stream.split("patterns"));
  std::vector<int> patterns(kClasses * kPixels / (kSquare * kSquare));
  for (int& value : patterns) value = static_cast<int>(random.normal() * kPatternDeviation);
  Splits splits{part("synthetic train", 4096, patterns, stream.split("train")),
                part("synthetic test", 1024, patterns, stream.split("test"))};
  measure_channels(splits);
  return splits;
}

}  // namespace tg
