#pragma once
// sgd: stochastic gradient descent on one worker: plain, with momentum (heavy ball), or with Nesterov's look-ahead.
//
//   in the papers   here           meaning
//   theta           theta, w       parameters, and one of them
//   g               gradient, g    minibatch gradient at what the worker was sent
//   v               velocity, v    sum of past gradients, each worth gamma less a step later; holds no learning rate
//   eta             eta            learning rate, as it was told with the parameters
//   gamma           gamma          momentum
//                   weight_decay   added to the gradient at theta
//
//   v     <- gamma v + g + weight_decay theta
//   theta <- theta - eta v
//   sent:    theta; with Nesterov theta - gamma (eta v), where the velocity alone is about to carry it
//
// Other rules take their steps from here, so that with one worker they have the same bits.

#include "optim/server_rule.h"

namespace tg {

struct PlainStep {
  float eta, weight_decay;
  TG_HD void operator()(float& w, float g) const { w -= eta * (g + weight_decay * w); }
};

struct MomentumStep {
  float eta, gamma, weight_decay;
  TG_HD void operator()(float& w, float& v, float g) const {
    v = gamma * v + (g + weight_decay * w);
    w -= eta * v;
  }
};

// gamma times the rounded product, never (gamma eta) v: dana-zero sums these products, and must reach the same bits.
struct LookAhead {
  float eta, gamma;
  TG_HD void operator()(float& sent, float w, float v) const { sent = w - gamma * (eta * v); }
};

struct SgdOptions {
  float momentum = 0;
  bool nesterov = false;
  float weight_decay = 0;

  static SgdOptions from(const Spec& spec);
};

class SgdUpdate : public ThetaUpdate {
 public:
  SgdUpdate(View initial, const SgdOptions& options)
      : ThetaUpdate(initial), options_(options), velocity_(options.momentum == 0 ? 0 : size(), device()) {}

  void apply(WorkerId, View gradient, const StepInfo& info) override {
    eta_ = info.learning_rate;
    if (options_.momentum == 0)
      for_each(PlainStep{eta_, options_.weight_decay}, theta_.span(), gradient);
    else
      for_each(MomentumStep{eta_, options_.momentum, options_.weight_decay}, theta_.span(), velocity_.span(), gradient);
  }

  void reply(WorkerId worker, Span out, const StepInfo& info) override {
    if (options_.nesterov && options_.momentum != 0)
      for_each(LookAhead{eta_, options_.momentum}, out, theta_.view(), velocity_.view());
    else
      Update::reply(worker, out, info);
  }

  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  SgdOptions options_;
  Vector<float> velocity_;  // empty without momentum
  float eta_ = 0;           // the rate that the velocity was last applied with
};

class Sgd : public ServerRule<SgdUpdate, SgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  bool sequential() const override { return true; }
};

}  // namespace tg
