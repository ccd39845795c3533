#pragma once
// nag-asgd: asynchronous SGD with one Nesterov velocity on the server (a comparison in Hakimi et al. 2019).
//
//   in the paper    here           meaning
//   theta           theta, w       parameters at the server
//   g               gradient, g    a worker's minibatch gradient, at the look-ahead point it was sent some updates ago
//   v               velocity, v    the one velocity, of the gradients of all workers; holds no learning rate
//   eta             eta            learning rate, as it was told with that point
//   gamma           gamma          momentum
//                   weight_decay   added to the gradient at the server's theta
//
//   v     <- gamma v + g + weight_decay theta
//   theta <- theta - eta v
//   sent:    theta - gamma (eta v), eta: the rate v was last applied with
//
// The steps are those of sgd:nesterov=true, whichever worker a gradient is from; one worker is that rule, bit for bit.
// With N workers the velocity carries theta on for N - 1 more steps before a gradient arrives, but the look-ahead
// foresees one of them only.
//
// How sure: recalled.

#include "optim/sgd.h"

namespace tg {

struct NagAsgdOptions {
  float momentum = 0.9f;
  float weight_decay = 0;

  static NagAsgdOptions from(const Spec& spec);
};

class NagAsgdUpdate : public ThetaUpdate {
 public:
  NagAsgdUpdate(View initial, const NagAsgdOptions& options)
      : ThetaUpdate(initial), options_(options), velocity_(size(), device()) {}

  void apply(WorkerId, View gradient, const StepInfo& info) override {
    eta_ = info.learning_rate;
    for_each(step(eta_), theta_.span(), velocity_.span(), gradient);
  }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

  void reply(WorkerId, Span out, const StepInfo&) override {
    for_each(LookAhead{eta_, options_.momentum}, out, theta_.view(), velocity_.view());
  }

  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  MomentumStep step(float eta) const { return {eta, options_.momentum, options_.weight_decay}; }

  NagAsgdOptions options_;
  Vector<float> velocity_;
  float eta_ = 0;  // the rate that the velocity was last applied with
};

class NagAsgd : public ServerRule<NagAsgdUpdate, NagAsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
};

}  // namespace tg
