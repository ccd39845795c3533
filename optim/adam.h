#pragma once
// adam: Adam (Kingma, Ba 2015) on one worker; a sequential baseline.
//
//   in the paper    here            meaning
//   theta           theta, w        parameters, and one of them
//   g               gradient, g     minibatch gradient at theta
//   m               mean, m         running mean of g, 0 at first
//   v               mean_square, v  running mean of g (.) g, 0 at first
//   t               t_              steps so far; in the formulas the step's number, from 1
//   alpha           eta             learning rate, as it was told with theta
//   beta1, beta2    beta1, beta2    the shares of m and v that are kept at a step
//   epsilon         epsilon         added to the root of v, outside it
//                   weight_decay    times theta, added to the gradient before it enters m and v (L2 regularisation;
//                                   AdamW, which takes it from theta directly, is another rule)
//
//   g     <- g + weight_decay theta
//   m     <- beta1 m + (1 - beta1) g
//   v     <- beta2 v + (1 - beta2) g (.) g
//   theta <- theta - eta (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
//   sent:    theta
//
// The divisions by 1 - beta^t make up for the zeros that m and v began with.

#include <cmath>

#include "optim/server_rule.h"

namespace tg {

struct AdamStep {
  float eta, beta1, beta2, epsilon, weight_decay;
  float bias1, bias2;  // 1 - beta1^t, 1 - beta2^t
  struct Parts {
    float decay, m, v, unbiased_m, unbiased_v, step;
  };
  TG_HD Parts parts(float w, float m, float v, float g) const {
    const float decay = weight_decay * w;
    g += decay;
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * (g * g);
    const float unbiased_m = m / bias1, unbiased_v = v / bias2;
    return {decay, m, v, unbiased_m, unbiased_v, eta * unbiased_m / (std::sqrt(unbiased_v) + epsilon)};
  }
  TG_HD void operator()(float& w, float& m, float& v, float g) const {
    const Parts after = parts(w, m, v, g);
    m = after.m;
    v = after.v;
    w -= after.step;
  }
};

struct AdamOptions {
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0;

  static AdamOptions from(const Spec& spec);
};

class AdamUpdate : public ThetaUpdate {
 public:
  AdamUpdate(View initial, const AdamOptions& options)
      : ThetaUpdate(initial), options_(options), mean_(size(), device()), mean_square_(size(), device()) {}

  void apply(WorkerId, View gradient, const StepInfo& info) override {
    for_each(step(info), theta_.span(), mean_.span(), mean_square_.span(), gradient);
    ++t_;
  }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  // The step to come.
  AdamStep step(const StepInfo& info) const {
    const auto bias = [t = static_cast<double>(t_ + 1)](float beta) {
      return static_cast<float>(1 - std::pow(double{beta}, t));
    };
    return {info.learning_rate,    options_.beta1,       options_.beta2,      options_.epsilon,
            options_.weight_decay, bias(options_.beta1), bias(options_.beta2)};
  }

  AdamOptions options_;
  Vector<float> mean_, mean_square_;
  int64_t t_ = 0;
};

class Adam : public ServerRule<AdamUpdate, AdamOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  bool sequential() const override { return true; }
};

}  // namespace tg
