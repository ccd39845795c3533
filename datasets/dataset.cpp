#include "datasets/dataset.h"

#include <algorithm>
#include <cmath>

namespace tg {
namespace {

constexpr int64_t kCacheLine = 64;

// Mean and deviation of one channel, from exact sums.
void measure_channel(const Dataset& data, int64_t channel, float& mean, float& deviation) {
  constexpr int64_t kBlock = 65536;  // the squares of so many pixels fit 32 bits
  const int64_t pixels = data.size() * data.height * data.width, stride = data.channels;
  uint64_t sum = 0, square = 0;
  for (int64_t first = 0; first < pixels; first += kBlock) {
    const uint8_t* p = data.pixels.data() + first * stride + channel;
    uint32_t block_sum = 0, block_square = 0;
    for (int64_t i = 0, n = std::min(kBlock, pixels - first); i < n; ++i) {
      const uint32_t v = p[i * stride];
      block_sum += v;
      block_square += v * v;
    }
    sum += block_sum;
    square += block_square;
  }
  const double n = static_cast<double>(pixels), average = static_cast<double>(sum) / n;
  const double variance = static_cast<double>(square) / n - average * average;
  mean = static_cast<float>(average / 255);
  deviation = variance > 0 ? static_cast<float>(std::sqrt(variance) / 255) : 1.0F;
}

// pixel * scale + shift for a run of values that starts at channel 0. Scale and shift are repeated over many pixels, so
// that the loop is vectorised for any number of channels.
class Normalizer {
 public:
  explicit Normalizer(const Dataset& data) {
    const auto channels = static_cast<size_t>(data.channels), run = 64 * channels;
    scale_.resize(run);
    shift_.resize(run);
    for (size_t i = 0; i < run; ++i) {
      scale_[i] = 1 / (255 * data.deviation[i % channels]);
      shift_[i] = -data.mean[i % channels] / data.deviation[i % channels];
    }
  }
  void operator()(const uint8_t* pixel, int64_t count, float* out) const {
    const auto run = static_cast<int64_t>(scale_.size());
    for (; count > run; count -= run, pixel += run, out += run) convert(pixel, run, out);
    convert(pixel, count, out);
  }

 private:
  void convert(const uint8_t* __restrict pixel, int64_t count, float* __restrict out) const {
    const float *scale = scale_.data(), *shift = shift_.data();
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(pixel[i]) * scale[i] + shift[i];
  }
  std::vector<float> scale_, shift_;
};

}  // namespace

void measure_channels(Splits& splits) {
  Dataset& train = splits.train;
  const auto channels = static_cast<size_t>(train.channels);
  train.mean.resize(channels);
  train.deviation.resize(channels);
  for (size_t c = 0; c < channels; ++c)
    measure_channel(train, static_cast<int64_t>(c), train.mean[c], train.deviation[c]);
  splits.test.mean = train.mean;
  splits.test.deviation = train.deviation;
}

Batch gather(const Dataset& data, std::vector<int64_t> index) {
  const int64_t n = static_cast<int64_t>(index.size()), sample = data.sample_size();
  require(static_cast<int64_t>(data.pixels.size()) == data.size() * sample,
          "{}: {} pixel values are not {} pictures of {}", data.name, data.pixels.size(), data.size(), sample);
  require(static_cast<int64_t>(data.mean.size()) == data.channels && data.deviation.size() == data.mean.size(),
          "{}: its channels have not been measured", data.name);
  for (const int64_t i : index)
    require(i >= 0 && i < data.size(), "{}: sample {} asked of {}", data.name, i, data.size());
  Batch batch{Tensor::empty({n, data.height, data.width, data.channels}), Tensor::empty({n}, DType::i32),
              std::move(index)};
  float* x = batch.x.data<float>();
  int32_t* y = batch.y.data<int32_t>();
  const Normalizer normalize(data);
  const auto row = [&](int64_t k) { return data.pixels.data() + batch.index[static_cast<size_t>(k)] * sample; };
  for (int64_t k = 0; k < n; ++k) {
    if (k + 1 < n)  // samples lie at random: fetch the next one while this one is converted
      for (int64_t i = 0; i < std::min<int64_t>(sample, 4096); i += kCacheLine) __builtin_prefetch(row(k + 1) + i);
    normalize(row(k), sample, x + k * sample);
    y[k] = data.labels[static_cast<size_t>(batch.index[static_cast<size_t>(k)])];
  }
  return batch;
}

}  // namespace tg
