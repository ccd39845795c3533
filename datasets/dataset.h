#pragma once
// A data set of labelled pictures in memory, and batches of it as tensors.

#include <cstdint>
#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace tg {

// N pictures of one size. Shared read-only between threads.
struct Dataset {
  std::string name;  // "fashion-mnist train"
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;  // [N, height, width, channels]
  std::vector<int32_t> labels;  // [N], from 0 to classes() - 1
  std::vector<std::string> class_names;
  // Per channel, of pixel / 255 over the training set; the test set has the training set's.
  std::vector<float> mean, deviation;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  int64_t classes() const { return static_cast<int64_t>(class_names.size()); }
  int64_t sample_size() const { return height * width * channels; }
};

// What belongs together: trained on one, judged by the other.
struct Splits {
  Dataset train, test;
};

struct Batch {
  Tensor x;                    // float32 [n, height, width, channels], (pixel / 255 - mean) / deviation
  Tensor y;                    // int32 [n]
  std::vector<int64_t> index;  // [n], which samples these are
};

// Fills in mean and deviation of both sets from train. A channel that never varies gets deviation 1.
void measure_channels(Splits& splits);

// The batch of the samples `index`, each from 0 to size() - 1. Throws Error if the data set's own sizes disagree.
Batch gather(const Dataset& dataset, std::vector<int64_t> index);

}  // namespace tg
