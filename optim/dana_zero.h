#pragma once
// dana-zero: DANA-Zero (Hakimi et al. 2019). A velocity per worker, and each worker is sent the point to which the
// velocities of all workers are about to carry theta, so that its gradient is not late by the momentum.
//
//   in the paper    here           meaning
//   theta           theta, w       parameters at the server
//   g               gradient, g    worker i's minibatch gradient at the look-ahead point it was sent
//   v[i]            velocity, v    worker i's velocity; holds no learning rate
//   eta             eta            learning rate, as it was told with that point
//   gamma           gamma          momentum
//   eta v0          steps_, sum    S = sum over workers j of eta_j v[j]; eta_j: the rate v[j] was last applied with
//                   weight_decay   added to the gradient at the server's theta
//
//   old   =  eta_i v[i]
//   v[i]  <- gamma v[i] + g + weight_decay theta
//   S     <- (S - old) + eta v[i]
//   theta <- theta - eta v[i]
//   sent:    theta - gamma S
//
// The paper looks ahead with the present eta, theta - eta gamma v0: the same while eta is constant. With each
// velocity's own rate, one worker equals Nesterov's SGD under any schedule, bit for bit.
//
// S is never summed anew: at each step one share is taken out and one put in, so rounding errors could pile up. In
// double they do not: a float that is added and taken away again leaves no trace unless S is some 2^29 times larger.
//
// How sure: recalled; that the sum is over all workers was read in public simulators. The rates eta_j are ours.

#include "optim/sgd.h"

namespace tg {

struct DanaZeroLookAhead {
  float gamma;
  TG_HD float distance(double sum) const { return gamma * static_cast<float>(sum); }
  TG_HD void operator()(float& sent, float w, double sum) const { sent = w - distance(sum); }
};

// multi-asgd's step, and what it changes in S.
struct DanaZeroStep {
  float eta_old;
  MomentumStep own;
  struct Parts {
    float decay, v, step;
    double sum;
    float ahead;
  };
  TG_HD Parts parts(float w, float v, double sum, float g) const {
    const float old = eta_old * v;
    const MomentumStep::Parts after = own.parts(w, v, g);
    sum = (sum - static_cast<double>(old)) + static_cast<double>(after.step);
    return {after.decay, after.v, after.step, sum, DanaZeroLookAhead{own.gamma}.distance(sum)};
  }
  TG_HD void operator()(float& w, float& v, double& sum, float g) const {
    const Parts after = parts(w, v, sum, g);
    v = after.v;
    sum = after.sum;
    w -= after.step;
  }
};

// Takes a leaving worker's share out of the sum.
struct DanaZeroForget {
  float eta_old;
  TG_HD void operator()(double& sum, float v) const { sum -= static_cast<double>(eta_old * v); }
};

struct DanaZeroOptions {
  float momentum = 0.9f;
  float weight_decay = 0;

  static DanaZeroOptions from(const Spec& spec);
};

class DanaZeroUpdate : public ThetaUpdate {
 public:
  DanaZeroUpdate(View initial, const DanaZeroOptions& options)
      : ThetaUpdate(initial),
        options_(options),
        velocities_(initial.size, initial.device),
        steps_(initial.size, initial.device) {}

  void apply(WorkerId i, View gradient, const StepInfo& info) override {
    const Span velocity = velocities_.of(i);
    for_each(step(i, info), theta_.span(), velocity, steps_.span(), gradient);
    rates_[i] = info.learning_rate;
  }
  void explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const override;

  void reply(WorkerId, Span out, const StepInfo&) override {
    for_each(DanaZeroLookAhead{options_.momentum}, out, theta_.view(), steps_.view());
  }

  void join(WorkerId i) override {
    velocities_.join(i);
    rates_.try_emplace(i, 0.0f);
  }
  void leave(WorkerId i) override;
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 protected:
  // Tells the terms of the step that `gradient` is going to make, without the gradient itself.
  void explain_step(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const;
  DanaZeroStep step(WorkerId i, const StepInfo& info) const {
    return {rates_.at(i), {info.learning_rate, options_.momentum, options_.weight_decay}};
  }

  DanaZeroOptions options_;
  WorkerVectors velocities_;
  std::map<WorkerId, float> rates_;  // eta_j by worker; 0 until its first gradient
  Vector<double> steps_;             // S
};

class DanaZero : public ServerRule<DanaZeroUpdate, DanaZeroOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
};

}  // namespace tg
