#include "framework/backend/meta/meta.h"

#include <algorithm>

#include "framework/core/meta.h"

namespace tg {
namespace {

// `outputs` sums of `terms` products.
void count_products(int64_t outputs, int64_t terms) {
  meta::tally().flops += 2 * static_cast<double>(outputs) * static_cast<double>(terms);
}

// Forward, and backward to data or to weights: every output meets every weight of its filter once. Positions of the
// kernel outside the picture count, as if the padding were stored. The copy is that of the weights in oneDNN's form.
void count_convolution(const Tensor& y, const Tensor& weight) {
  const Tensor copy = Tensor::empty(weight.shape(), weight.dtype(), weight.device());
  count_products(y.count(), weight.dim(1) * weight.dim(2) * weight.dim(3));
}

class MetaBackend final : public Backend {
 public:
  using T = Tensor;

  void matmul(const T& a, bool transpose_a, const T&, bool, T& out) override {
    count_products(out.count(), a.dim(transpose_a ? 0 : 1));
  }
  void linear(const T& x, const T&, const T&, bool, T& y) override { count_products(y.count(), x.dim(1)); }

  void conv2d(const T&, const T& weight, const T&, const ConvGeometry&, bool, T& y) override {
    count_convolution(y, weight);
  }
  void conv2d_backward_data(const T& gradient, const T& weight, const ConvGeometry&, T&) override {
    count_convolution(gradient, weight);
  }
  void conv2d_backward_weights(const T&, const T& gradient, const ConvGeometry&, T& dweight, T&) override {
    count_convolution(gradient, dweight);
  }

  void batch_norm(const T& x, const T&, const T&, const BatchNormGeometry& geometry, T&, T&, T&, T& kept) override {
    if (geometry.relu) kept = Tensor::empty({(x.count() + 7) / 8}, DType::u8, x.device());  // a bit each
  }
  void batch_norm_backward(const T&, const T&, const T&, const T&, const T&, const T&, const BatchNormGeometry&, T&, T&,
                           T&) override {}

  void lstm(const T& x, const T& weight, const T& recurrent_weight, const T&, const T&, T& y, T& kept) override {
    const int64_t cells = x.dim(0) * x.dim(1), hidden = y.dim(2);
    count_products(cells * weight.dim(0), x.dim(2) + hidden);
    kept = Tensor::empty({cells, 5 * hidden}, x.dtype(), x.device());
    const Tensor copy = Tensor::empty(recurrent_weight.shape(), x.dtype(), x.device());
  }
  void lstm_backward(const T&, const T& x, const T& weight, const T&, const T&, const T& y, T&, T& dx, T&, T&,
                     T&) override {
    const int64_t cells = x.dim(0) * x.dim(1), hidden = y.dim(2);
    count_products(cells * weight.dim(0), (dx.defined() ? 2 : 1) * x.dim(2) + 2 * hidden);
    const Tensor copy = Tensor::empty({cells, std::max(hidden, x.dim(2))}, x.dtype(), x.device());
  }

  void sum(const T&, int64_t, int64_t, int64_t, T&) override {}
  void max(const T&, int64_t, int64_t, int64_t, T&, T&) override {}
  void max_backward(const T&, const T&, int64_t, int64_t, int64_t, T&) override {}
  void max_pool2d(const T&, const PoolGeometry&, bool, T&, T&) override {}
  void max_pool2d_backward(const T&, const T&, const PoolGeometry&, T&) override {}
  void avg_pool2d(const T&, const PoolGeometry&, T&) override {}
  void avg_pool2d_backward(const T&, const PoolGeometry&, T&) override {}
  void batch_norm_fixed(const T&, const T&, const T&, const T&, const T&, const BatchNormGeometry&, T&) override {}
  void batch_norm_fixed_backward(const T&, const T&, const T&, const T&, const T&, const T&, const BatchNormGeometry&,
                                 T&, T&, T&) override {}
  void layer_norm(const T&, const T&, const T&, double, T&) override {}
  void layer_norm_backward(const T&, const T&, const T&, double, T&, T&, T&) override {}
  void local_response_norm(const T&, const ResponseNormGeometry&, T&) override {}
  void local_response_norm_backward(const T&, const T&, const ResponseNormGeometry&, T&) override {}
  void log_softmax(const T&, T&) override {}
  void log_softmax_backward(const T&, const T&, T&) override {}
  void gather(const T&, int64_t, int64_t, int64_t, const T&, T&) override {}
  void gather_backward(const T&, int64_t, int64_t, int64_t, const T&, T&) override {}
  void dropout(const T&, double, const Stream&, T&) override {}
  void cross_entropy(const T&, const T&, const CrossEntropyGeometry&, T&, T&) override {}
  void cross_entropy_backward(const T&, const T&, const T&, const CrossEntropyGeometry&, T&) override {}
  void ctc_loss(const T&, const CtcTargets&, T&, T&, T&) override {}
  void ctc_loss_backward(const T&, const CtcTargets&, const T&, const T&, T&) override {}
  void relu_backward(const T&, const T&, T&) override {}
};

}  // namespace

Backend& meta_backend() {
  static MetaBackend instance;
  return instance;
}

}  // namespace tg
