#pragma once
// lwp: linear weight prediction (Kosson et al. 2020, "Pipelined Backpropagation at Scale"; a comparison in Hakimi et
// al. 2019). One velocity on the server. A worker is sent the point to which that velocity, if it stays as it is, will
// have carried theta by the time the worker's gradient arrives.
//
//   in the papers   here           meaning
//   theta           theta, w       parameters at the server
//   g               gradient, g    a worker's minibatch gradient, at the predicted point it was sent some updates ago
//   v               velocity, v    the one velocity, of the gradients of all workers; holds no learning rate
//   eta             eta            learning rate, as it was told with that point
//   gamma           gamma          momentum
//   tau             tau            updates that the gradient is expected to be late by
//                   weight_decay   added to the gradient at the server's theta
//
//   v     <- gamma v + g + weight_decay theta
//   theta <- theta - eta v
//   sent:    theta - tau (eta v), eta: the rate v was last applied with
//
// Which tau? The mean lag of N equal workers, N - 1, N being the number that is live now. With lag=measured: what this
// worker's last gradient was late by, and N - 1 before its first.
//
// How sure: recalled. The papers' factor of tau is not known to us for certain; this is the plain linear one.
//
// With one worker tau = 0: sgd with momentum, bit for bit.

#include "optim/sgd.h"

namespace tg {

struct LwpOptions {
  float momentum = 0.9f;
  bool measured_lag = false;
  float weight_decay = 0;

  static LwpOptions from(const Spec& spec);
};

class LwpUpdate : public ThetaUpdate {
 public:
  LwpUpdate(View initial, const LwpOptions& options)
      : ThetaUpdate(initial), options_(options), velocity_(size(), device()) {}

  void apply(WorkerId i, View gradient, const StepInfo& info) override {
    eta_ = info.learning_rate;
    for_each(step(eta_), theta_.span(), velocity_.span(), gradient);
    if (options_.measured_lag) lags_[i] = info.lag;
  }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

  void reply(WorkerId i, Span out, const StepInfo& info) override {
    const auto measured = lags_.find(i);
    const int64_t tau = measured != lags_.end() ? measured->second : expected_lag(info);
    for_each(predict(eta_, tau), out, theta_.view(), velocity_.view());
  }

  void leave(WorkerId i) override { lags_.erase(i); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  static int64_t expected_lag(const StepInfo& info) { return info.workers - 1; }
  MomentumStep step(float eta) const { return {eta, options_.momentum, options_.weight_decay}; }
  // Nesterov's look-ahead, with tau in the place of gamma.
  static LookAhead predict(float eta, int64_t tau) { return {eta, static_cast<float>(tau)}; }

  LwpOptions options_;
  Vector<float> velocity_;
  float eta_ = 0;                     // the rate that the velocity was last applied with
  std::map<WorkerId, int64_t> lags_;  // the last that was measured, by worker; empty where the expected one is used
};

class Lwp : public ServerRule<LwpUpdate, LwpOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
};

}  // namespace tg
