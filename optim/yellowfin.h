#pragma once
// yellowfin: YellowFin (Zhang, Mitliagkas, Re 2017). Momentum SGD that tunes its momentum and its rate from the
// gradients it sees, and, closed-loop, lowers its momentum by what asynchrony adds. Recalled, and derived in
// docs/yellowfin.md.
//
//   in the paper    here           meaning
//   x               theta, w       parameters at the server
//   g               gradient, g    a minibatch gradient, at what its worker was sent
//   v               velocity, v    sum of past gradients, each times mu for every step since; holds no rate
//   mu*, alpha      tuner_         tuned momentum and rate (yellowfin_tuner.h)
//   mu_T            measured_      total momentum, as it shows in the steps of the server
//   mu              mu_            momentum of the step: mu* as it is, or in the closed loop what the loop makes of it
//                   factor         the told rate / the schedule's highest: warm-up and drops scale the tuned rate
//                   weight_decay   added to the gradient at theta; the tuner looks at the gradient without it
//
//   mu*, alpha <- tuner, from |g|^2 and the norm of the running mean of g
//   v     <- mu v + g + weight_decay theta
//   theta <- theta - factor alpha v
//   sent:    theta
//   closed-loop:  worker i's gradient was taken at x_s, after which theta moved with v_s before and v_s+1 after
//     mu_T = median over the coordinates of (v_s+1 - (g_i(x_s) + weight_decay x_s)) / v_s
//     mu   <- mu + 0.01 (mu* - mu_T)
//
// The rate's average begins at the schedule's peak (the paper's at 1). The paper measures mu_T by steps of theta, which
// hold the rate; velocities say the same and do not mind when it changes. Its clipping of gradients is left out.

#include <set>

#include "optim/sgd.h"
#include "optim/yellowfin_tuner.h"

namespace tg {

struct YellowFinMean {
  float beta;
  TG_HD void operator()(float& mean, float g) const { mean = beta * mean + (1 - beta) * g; }
};

struct YellowFinRatio {
  float weight_decay;
  TG_HD void operator()(float& ratio, float before, float after, float g, float sent) const {
    ratio = (after - (g + weight_decay * sent)) / before;
  }
};

struct YellowFinOptions {
  float beta = 0.999f;
  bool closed_loop = false;
  float weight_decay = 0;

  static YellowFinOptions from(const Spec& spec);
};

class YellowFinUpdate : public ThetaUpdate {
 public:
  YellowFinUpdate(View initial, const YellowFinOptions& options);

  void apply(WorkerId i, View gradient, const StepInfo& info) override {
    if (tuner_.steps() == 0) tuner_.start(static_cast<double>(info.peak_learning_rate));
    observe(tuner_, mean_.span(), gradient);
    for_each(step(tuner_, info), theta_.span(), velocity_.span(), gradient);
    if (options_.closed_loop) close_loop(i, gradient, info);
  }
  void explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const override;
  void reply(WorkerId i, Span out, const StepInfo& info) override;

  void join(WorkerId i) override;
  void leave(WorkerId i) override;
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  void observe(YellowFinTuner& tuner, Span mean, View gradient) const;
  MomentumStep step(const YellowFinTuner& tuner, const StepInfo& info) const;
  void close_loop(WorkerId i, View gradient, const StepInfo& info);

  YellowFinOptions options_;
  YellowFinTuner tuner_;
  Vector<float> velocity_, mean_;
  // Closed-loop only:
  double mu_ = 0, measured_ = 0;
  WorkerVectors before_, after_;  // v_s and v_s+1 of what each worker was sent
  std::set<WorkerId> fresh_;      // who was sent theta since its last step
};

class YellowFin : public ServerRule<YellowFinUpdate, YellowFinOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  bool shardable() const override { return false; }  // norms are those of the whole vector
  bool needs_sent() const override { return options_.closed_loop; }
};

}  // namespace tg
