#pragma once
// Backend: the whole list of what a device must be able to do, on contiguous tensors whose shapes the caller has
// checked.
//
// plain/ is the readable form: one templated loop a kernel, float32 and float64, the oracle of the others. cpu/
// overrides what it does faster in float32 (oneDNN and vector loops). Element-wise work is not here: it is formulas
// (for_each, elementwise.h). Outputs are tensors that the caller made; a kernel writes all of them and reads nothing
// from them.

#include <memory>

#include "framework/core/random.h"
#include "framework/core/tensor.h"

namespace tg {

// A 2-D convolution's geometry, without its batch size. Pictures are [N, H, W, C], weights [K, R, S, C / groups].
struct ConvGeometry {
  int64_t stride = 1;
  int64_t padding = 0;   // zeros on every side
  int64_t dilation = 1;  // from one position of the kernel to the next
  int64_t groups = 1;    // filters [g K / groups, ...) see channels [g C / groups, ...) alone
  bool operator==(const ConvGeometry&) const = default;
  // Rows (or columns) of the output for `in` rows and a kernel of `kernel` rows; may be below 1, which the caller
  // refuses.
  int64_t out(int64_t in, int64_t kernel) const {
    return (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
};

struct PoolGeometry {
  int64_t kernel = 2;
  int64_t stride = 2;
  int64_t padding = 0;  // positions outside count for nothing
  bool operator==(const PoolGeometry&) const = default;
  int64_t out(int64_t in) const { return (in + 2 * padding - kernel) / stride + 1; }
};

struct BatchNormGeometry {
  double epsilon = 1e-5;  // added to the variance
  bool relu = false;      // max(y, 0) afterwards
};

struct CrossEntropyGeometry {
  double smoothing = 0;   // [0, 1)
  int32_t ignore = -100;  // the label of rows that do not count
  int64_t rows = 1;       // that count
};

// What the samples of a batch are to say, see ops/ctc.h; all int32 and checked.
struct CtcTargets {
  Tensor labels;                        // [N, L]
  Tensor label_lengths, input_lengths;  // [N]
};

// The formula's constants, see ops/norm.h; size in channels.
struct ResponseNormGeometry {
  int64_t size;
  double alpha, beta, k;
};

// In max-pooling's index: relu clipped this value, no gradient goes back. Kernels have at most 15 x 15 positions.
inline constexpr uint8_t kClipped = 255;

class Backend {
 public:
  virtual ~Backend() = default;

  // out [m, n] = a b, where a is [m, k], or [k, m] if transpose_a; b is [k, n], or [n, k] if transpose_b.
  virtual void matmul(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& out) = 0;

  // y [n, out] = x [n, in] weight^T + bias, then max(y, 0) if relu. weight [out, in]; bias [out] or undefined.
  virtual void linear(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu, Tensor& y) = 0;

  // x [outer, n, inner] -> out [outer, inner].
  virtual void sum(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out) = 0;
  // The same for the largest; `index` (int32) gets the first position along n that holds it. A NaN wins.
  virtual void max(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out, Tensor& index) = 0;
  // dx [outer, n, inner] = gradient [outer, inner] at `index`, zero elsewhere.
  virtual void max_backward(const Tensor& gradient, const Tensor& index, int64_t outer, int64_t n, int64_t inner,
                            Tensor& dx) = 0;

  // x [N, H, W, C], weight [K, R, S, C / groups], bias [K] or undefined -> y [N, OH, OW, K], then max(y, 0) if relu.
  virtual void conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvGeometry& geometry,
                      bool relu, Tensor& y) = 0;
  virtual void conv2d_backward_data(const Tensor& gradient, const Tensor& weight, const ConvGeometry& geometry,
                                    Tensor& dx) = 0;
  // dbias may be undefined.
  virtual void conv2d_backward_weights(const Tensor& x, const Tensor& gradient, const ConvGeometry& geometry,
                                       Tensor& dweight, Tensor& dbias) = 0;

  // x [N, H, W, C] -> y [N, OH, OW, C]; `index` (uint8) gets the position in the kernel, row by row, of the first
  // largest, or kClipped where relu made it zero. With relu, y is max(y, 0).
  virtual void max_pool2d(const Tensor& x, const PoolGeometry& geometry, bool relu, Tensor& y, Tensor& index) = 0;
  virtual void max_pool2d_backward(const Tensor& gradient, const Tensor& index, const PoolGeometry& geometry,
                                   Tensor& dx) = 0;

  // The mean of each window's positions inside the picture.
  virtual void avg_pool2d(const Tensor& x, const PoolGeometry& geometry, Tensor& y) = 0;
  virtual void avg_pool2d_backward(const Tensor& gradient, const PoolGeometry& geometry, Tensor& dx) = 0;

  // Batch normalisation of x [..., C] by its own statistics, then max(y, 0) if relu. Gives mean and biased variance
  // [C], and in `kept` (undefined before) what the derivative needs of relu.
  virtual void batch_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, const BatchNormGeometry& geometry,
                          Tensor& y, Tensor& mean, Tensor& variance, Tensor& kept) = 0;
  virtual void batch_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, const Tensor& mean,
                                   const Tensor& variance, const Tensor& kept, const BatchNormGeometry& geometry,
                                   Tensor& dx, Tensor& dscale, Tensor& dshift) = 0;
  // The same by given statistics [C], which are constants. `y` is looked at only with relu.
  virtual void batch_norm_fixed(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& mean,
                                const Tensor& variance, const BatchNormGeometry& geometry, Tensor& y) = 0;
  virtual void batch_norm_fixed_backward(const Tensor& gradient, const Tensor& x, const Tensor& y, const Tensor& scale,
                                         const Tensor& mean, const Tensor& variance, const BatchNormGeometry& geometry,
                                         Tensor& dx, Tensor& dscale, Tensor& dshift) = 0;
  // Layer normalisation of the rows of x [..., C].
  virtual void layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, double epsilon, Tensor& y) = 0;
  virtual void layer_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, double epsilon,
                                   Tensor& dx, Tensor& dscale, Tensor& dshift) = 0;
  // y = x (k + alpha / size * sum of squares around the channel)^-beta in the rows of x [..., C].
  virtual void local_response_norm(const Tensor& x, const ResponseNormGeometry& geometry, Tensor& y) = 0;
  virtual void local_response_norm_backward(const Tensor& gradient, const Tensor& x,
                                            const ResponseNormGeometry& geometry, Tensor& dx) = 0;

  // x [n, classes] -> log softmax of each row, by subtracting the row's maximum first.
  virtual void log_softmax(const Tensor& x, Tensor& y) = 0;
  // dx = gradient - softmax * sum(gradient), from y = log softmax.
  virtual void log_softmax_backward(const Tensor& gradient, const Tensor& y, Tensor& dx) = 0;

  // An LSTM, see ops/lstm.h. x [N, T, I], weight [4 H, I], recurrent_weight [4 H, H], bias [4 H], `lengths` int32 [N]
  // in 1 to T or undefined (all T) -> y [N, T, H]. `kept` (undefined before) gets what the derivative needs.
  virtual void lstm(const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight, const Tensor& bias,
                    const Tensor& lengths, Tensor& y, Tensor& kept) = 0;
  // dx may be undefined. `kept` is used up: the kernel may work in it.
  virtual void lstm_backward(const Tensor& gradient, const Tensor& x, const Tensor& weight,
                             const Tensor& recurrent_weight, const Tensor& lengths, const Tensor& y, Tensor& kept,
                             Tensor& dx, Tensor& dweight, Tensor& drecurrent_weight, Tensor& dbias) = 0;

  // x [outer, n, inner] -> y [outer, index.count(), inner], the entries at `index` (int32, in range).
  virtual void gather(const Tensor& x, int64_t outer, int64_t n, int64_t inner, const Tensor& index, Tensor& y) = 0;
  // dx [outer, n, inner] = the sum of gradient over the places that an entry was taken to, in their order.
  virtual void gather_backward(const Tensor& gradient, int64_t outer, int64_t n, int64_t inner, const Tensor& index,
                               Tensor& dx) = 0;

  // y_i = x_i / (1 - rate) if stream.uniform(i) >= rate, else 0.
  virtual void dropout(const Tensor& x, double rate, const Stream& stream, Tensor& y) = 0;

  // logits [n, classes], labels int32 [n] in [0, classes) -> loss: one number, the mean of -log softmax at the labels.
  // `log_probabilities` [n, classes] gets log softmax, for the derivative.
  // With smoothing s the wanted distribution is 1 - s at the label plus s / classes everywhere. Rows whose label is
  // `ignore` count for nothing; the mean is over `rows`, the others.
  virtual void cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyGeometry& geometry,
                             Tensor& loss, Tensor& log_probabilities) = 0;
  // dlogits = gradient / rows * (softmax - the wanted distribution), 0 in ignored rows.
  virtual void cross_entropy_backward(const Tensor& gradient, const Tensor& log_probabilities, const Tensor& labels,
                                      const CrossEntropyGeometry& geometry, Tensor& dlogits) = 0;

  // CTC loss (ops/ctc.h) of logits [N, T, classes]: one number, the mean over the batch. For the derivative, as far as
  // the samples' lengths go: `log_probabilities` [N, T, classes] gets log softmax, `log_alpha` (float64, [N, T, 2 L +
  // 1]) the logarithms of the forward variables.
  virtual void ctc_loss(const Tensor& logits, const CtcTargets& targets, Tensor& loss, Tensor& log_probabilities,
                        Tensor& log_alpha) = 0;
  virtual void ctc_loss_backward(const Tensor& gradient, const CtcTargets& targets, const Tensor& log_probabilities,
                                 const Tensor& log_alpha, Tensor& dlogits) = 0;

  // g = gradient where y > 0, else 0: the derivative of max(x, 0) from its value. `g` may be `gradient`.
  virtual void relu_backward(const Tensor& gradient, const Tensor& y, Tensor& g) = 0;
};

// The kernels for tensors of this device and type: float64 always computes on `plain`. Throws Error for a device that
// is not there.
Backend& backend_for(const Tensor& tensor);

}  // namespace tg
