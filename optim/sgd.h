#pragma once
// sgd: stochastic gradient descent on one worker: plain, with momentum (heavy ball), or with Nesterov's look-ahead.
// Other rules take their steps from here, so that with one worker they have the same bits.
//
//   in the papers   here           meaning
//   theta           theta, w       parameters, and one of them
//   g               gradient, g    minibatch gradient at what the worker was sent
//   v               velocity, v    sum of past gradients, each times gamma for every step since; holds no learning rate
//   eta             eta            learning rate, as it was told with the parameters
//   gamma           gamma          momentum
//                   weight_decay   added to the gradient at theta
//
//   v     <- gamma v + g + weight_decay theta                without momentum gamma = 0
//   theta <- theta - eta v
//   sent:    theta; with Nesterov theta - gamma (eta v), to which the velocity alone is about to carry it

#include "optim/server_rule.h"

namespace tg {

struct PlainStep {
  float eta, weight_decay;
  struct Parts {
    float decay, step;
  };
  TG_HD Parts parts(float w, float g) const {
    const float decay = weight_decay * w;
    return {decay, eta * (g + decay)};
  }
  TG_HD void operator()(float& w, float g) const { w -= parts(w, g).step; }
};

// gamma times the rounded product eta v, never (gamma eta) v: dana-zero adds up products eta v, to the same bits.
struct LookAhead {
  float eta, gamma;
  TG_HD float distance(float v) const { return gamma * (eta * v); }
  TG_HD void operator()(float& sent, float w, float v) const { sent = w - distance(v); }
};

struct MomentumStep {
  float eta, gamma, weight_decay;
  struct Parts {
    float decay, v, step, ahead;
  };
  TG_HD Parts parts(float w, float v, float g) const {
    const float decay = weight_decay * w;
    v = gamma * v + (g + decay);
    return {decay, v, eta * v, LookAhead{eta, gamma}.distance(v)};
  }
  TG_HD void operator()(float& w, float& v, float g) const {
    const Parts after = parts(w, v, g);
    v = after.v;
    w -= after.step;
  }
};

// Tell the terms of these steps, but for the gradient itself; [k] each, as theta lies.
void explain(const PlainStep& step, View theta, View gradient, Terms& terms);
void explain(const MomentumStep& step, View theta, View velocity, View gradient, Terms& terms);

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
      for_each(plain(eta_), theta_.span(), gradient);
    else
      for_each(with_momentum(eta_), theta_.span(), velocity_.span(), gradient);
  }

  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;
  // Tells the same terms but for the gradient itself, for a step at the rate `eta`.
  void explain_step(View gradient, float eta, Terms& terms) const;

  void reply(WorkerId worker, Span out, const StepInfo& info) override {
    if (options_.nesterov && options_.momentum != 0)
      for_each(LookAhead{eta_, options_.momentum}, out, theta_.view(), velocity_.view());
    else
      Update::reply(worker, out, info);
  }

  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  PlainStep plain(float eta) const { return {eta, options_.weight_decay}; }
  MomentumStep with_momentum(float eta) const { return {eta, options_.momentum, options_.weight_decay}; }

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
