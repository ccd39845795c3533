#pragma once
// sa-asgd: staleness-aware asynchronous SGD (Zhang et al. 2016). A gradient that is late by tau updates counts 1 / tau.
//
//   in the paper    here           meaning
//   theta           theta, w       parameters at the server
//   g               gradient       a worker's minibatch gradient, at the parameters it was sent tau updates ago
//   tau             lag            updates of theta since then: i - j, the time stamps of arrival and of sending
//   alpha_0         learning_rate  learning rate, as it was told with those parameters
//   alpha           eta            alpha_0 / tau; alpha_0 where tau = 0
//                   gamma, v       momentum and velocity, as an option: one on the server; holds no learning rate
//                   weight_decay   added to the gradient at the server's theta
//
//   theta <- theta - alpha (g + weight_decay theta)
//   with momentum:
//   v     <- gamma v + g + weight_decay theta
//   theta <- theta - alpha v
//   sent:    theta
//
// The paper trains with momentum 0.9; where its alpha stands then is not known to us. Here it is the rate of the step,
// so that a late gradient also shortens the part of the step that is due to earlier gradients.
//
// One worker has tau = 0: sgd, bit for bit.
//
// How sure: read in the paper, apart from formulas; the rate where tau = 0 is recalled.

#include <algorithm>

#include "optim/sgd.h"

namespace tg {

struct SaAsgdOptions {
  float momentum = 0;
  float weight_decay = 0;

  static SaAsgdOptions from(const Spec& spec);
};

// The step is sgd's, at a rate of its own.
class SaAsgdUpdate : public Update {
 public:
  SaAsgdUpdate(View initial, const SaAsgdOptions& options)
      : sgd_(initial, {.momentum = options.momentum, .weight_decay = options.weight_decay}) {}

  void apply(WorkerId worker, View gradient, const StepInfo& info) override {
    sgd_.apply(worker, gradient, {.learning_rate = alpha(info)});
  }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

  View theta() const override { return sgd_.theta(); }
  void save(StateWriter& state) const override { sgd_.save(state); }
  void load(const StateReader& state) override { sgd_.load(state); }

 private:
  static float alpha(const StepInfo& info) {
    return info.learning_rate / static_cast<float>(std::max<int64_t>(1, info.lag));
  }

  SgdUpdate sgd_;
};

class SaAsgd : public ServerRule<SaAsgdUpdate, SaAsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
};

}  // namespace tg
