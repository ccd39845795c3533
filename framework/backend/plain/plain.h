#pragma once
// The readable form of every kernel: one templated loop each, float32 and float64, one thread, a fixed order.

#include "framework/backend/backend.h"

namespace tg {

class PlainBackend : public Backend {
 public:
  void matmul(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& out) override;
  void linear(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu, Tensor& y) override;

  void sum(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out) override;
  void max(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out, Tensor& index) override;
  void max_backward(const Tensor& gradient, const Tensor& index, int64_t outer, int64_t n, int64_t inner,
                    Tensor& dx) override;

  void conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvGeometry& geometry, bool relu,
              Tensor& y) override;
  void conv2d_backward_data(const Tensor& gradient, const Tensor& weight, const ConvGeometry& geometry,
                            Tensor& dx) override;
  void conv2d_backward_weights(const Tensor& x, const Tensor& gradient, const ConvGeometry& geometry, Tensor& dweight,
                               Tensor& dbias) override;

  void max_pool2d(const Tensor& x, const PoolGeometry& geometry, bool relu, Tensor& y, Tensor& index) override;
  void max_pool2d_backward(const Tensor& gradient, const Tensor& index, const PoolGeometry& geometry,
                           Tensor& dx) override;

  void avg_pool2d(const Tensor& x, const PoolGeometry& geometry, Tensor& y) override;
  void avg_pool2d_backward(const Tensor& gradient, const PoolGeometry& geometry, Tensor& dx) override;
  void batch_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, const BatchNormGeometry& geometry,
                  Tensor& y, Tensor& mean, Tensor& variance, Tensor& kept) override;
  void batch_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, const Tensor& mean,
                           const Tensor& variance, const Tensor& kept, const BatchNormGeometry& geometry, Tensor& dx,
                           Tensor& dscale, Tensor& dshift) override;
  void batch_norm_fixed(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& mean,
                        const Tensor& variance, const BatchNormGeometry& geometry, Tensor& y) override;
  void batch_norm_fixed_backward(const Tensor& gradient, const Tensor& x, const Tensor& y, const Tensor& scale,
                                 const Tensor& mean, const Tensor& variance, const BatchNormGeometry& geometry,
                                 Tensor& dx, Tensor& dscale, Tensor& dshift) override;
  void layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, double epsilon, Tensor& y) override;
  void layer_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, double epsilon, Tensor& dx,
                           Tensor& dscale, Tensor& dshift) override;
  void local_response_norm(const Tensor& x, const ResponseNormGeometry& geometry, Tensor& y) override;
  void local_response_norm_backward(const Tensor& gradient, const Tensor& x, const ResponseNormGeometry& geometry,
                                    Tensor& dx) override;
  void lstm(const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight, const Tensor& bias,
            const Tensor& lengths, Tensor& y, Tensor& kept) override;
  void lstm_backward(const Tensor& gradient, const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight,
                     const Tensor& lengths, const Tensor& y, Tensor& kept, Tensor& dx, Tensor& dweight,
                     Tensor& drecurrent_weight, Tensor& dbias) override;

  void gather(const Tensor& x, int64_t outer, int64_t n, int64_t inner, const Tensor& index, Tensor& y) override;
  void gather_backward(const Tensor& gradient, int64_t outer, int64_t n, int64_t inner, const Tensor& index,
                       Tensor& dx) override;
  void dropout(const Tensor& x, double rate, const Stream& stream, Tensor& y) override;

  void log_softmax(const Tensor& x, Tensor& y) override;
  void log_softmax_backward(const Tensor& gradient, const Tensor& y, Tensor& dx) override;
  void cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyGeometry& geometry, Tensor& loss,
                     Tensor& log_probabilities) override;
  void cross_entropy_backward(const Tensor& gradient, const Tensor& log_probabilities, const Tensor& labels,
                              const CrossEntropyGeometry& geometry, Tensor& dlogits) override;
  void ctc_loss(const Tensor& logits, const CtcTargets& targets, Tensor& loss, Tensor& log_probabilities,
                Tensor& log_alpha) override;
  void ctc_loss_backward(const Tensor& gradient, const CtcTargets& targets, const Tensor& log_probabilities,
                         const Tensor& log_alpha, Tensor& dlogits) override;

  void relu_backward(const Tensor& gradient, const Tensor& y, Tensor& g) override;
};

Backend& plain_backend();

}  // namespace tg
