#pragma once
// The float32 kernels of the CPU: oneDNN for products and convolutions, our own vector loops for the rest. What is not
// overridden is plain's loop, on one thread.

#include "framework/backend/plain/plain.h"

namespace tg {

class CpuBackend final : public PlainBackend {
 public:
  void matmul(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& out) override;
  void linear(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu, Tensor& y) override;
  void sum(const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& out) override;
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
  void gather(const Tensor& x, int64_t outer, int64_t n, int64_t inner, const Tensor& index, Tensor& y) override;
  void gather_backward(const Tensor& gradient, int64_t outer, int64_t n, int64_t inner, const Tensor& index,
                       Tensor& dx) override;
  void dropout(const Tensor& x, double rate, const Stream& stream, Tensor& y) override;
  void ctc_loss(const Tensor& logits, const CtcTargets& targets, Tensor& loss, Tensor& log_probabilities,
                Tensor& log_alpha) override;
  void ctc_loss_backward(const Tensor& gradient, const CtcTargets& targets, const Tensor& log_probabilities,
                         const Tensor& log_alpha, Tensor& dlogits) override;
  void lstm(const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight, const Tensor& bias,
            const Tensor& lengths, Tensor& y, Tensor& kept) override;
  void lstm_backward(const Tensor& gradient, const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight,
                     const Tensor& lengths, const Tensor& y, Tensor& kept, Tensor& dx, Tensor& dweight,
                     Tensor& drecurrent_weight, Tensor& dbias) override;
  void relu_backward(const Tensor& gradient, const Tensor& y, Tensor& g) override;
};

Backend& cpu_backend();

}  // namespace tg
