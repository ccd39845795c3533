#pragma once
// Normalisations over the last axis's channels. float32 and float64.

#include "framework/core/tensor.h"

namespace tg {

struct BatchNormOptions {
  double epsilon = 1e-5;  // keeps the root from 0
  bool relu = false;      // max(y, 0) in the same kernel
};

// What a batch's normalisation used: means and biased variances [C] over `rows` values a channel. No gradient.
struct BatchStatistics {
  Tensor mean, variance;
  int64_t rows = 0;
};

// Batch normalisation with the batch's own statistics (Ioffe and Szegedy 2015): y = scale (x - mean) / sqrt(variance +
// epsilon) + shift for every channel, mean and (biased) variance over all other axes. x [..., C], scale [C], shift [C].
// The statistics depend on x, and the gradient goes through them. Throws Error if a channel has a single value: its
// variance would be 0 whatever it is. `statistics`, if given, gets what was used.
Tensor batch_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, const BatchNormOptions& options = {},
                  BatchStatistics* statistics = nullptr);

// The same with given statistics [C], which are constants: how a trained network is evaluated.
Tensor batch_norm_fixed(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& mean,
                        const Tensor& variance, const BatchNormOptions& options = {});

// Layer normalisation (Ba et al. 2016): every row of the last axis by its own mean and biased variance, then scale and
// shift [C].
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, double epsilon = 1e-5);

struct LocalResponseNormOptions {
  int64_t size = 5;  // channels in the window, centred (the channel before the middle if even)
  double alpha = 1e-4, beta = 0.75, k = 2;
};
// Local response normalisation across channels (Krizhevsky et al. 2012): y_c = x_c (k + alpha / size * sum of
// x_j^2)^-beta, j over `size` channels around c, those outside counting as 0. (The paper's alpha is this one divided by
// size.)
Tensor local_response_norm(const Tensor& x, const LocalResponseNormOptions& options = {});

}  // namespace tg
