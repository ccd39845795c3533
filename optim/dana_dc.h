#pragma once
// dana-dc: DANA-DC (Hakimi et al. 2019): delay compensation (DC-ASGD), then DANA-Zero. The look-ahead takes the
// velocities out of the distance between what a worker was sent and theta where its gradient arrives. The compensation
// makes up for the rest, the gradients that other workers sent meanwhile; the smaller it is, the better a first-order
// expansion holds.
//
//   in the paper    here           meaning
//   theta           theta, w       parameters at the server
//   sent[i]         sent           the look-ahead point that worker i was sent and took g at (the engine keeps it)
//   g               gradient, g    worker i's minibatch gradient
//   lambda          compensated    strength of the compensation; the adaptive one of DC-ASGD as an option
//   v[i], S         velocity, sum  velocity, and the sum of all workers' eta_j v[j]: dana_zero.h
//   eta, gamma      eta, gamma     learning rate, as it was told with sent[i]; momentum
//                   weight_decay   added at the server's theta, after the compensation of the raw gradient
//
//   g     <- g + lambda g (.) g (.) (theta - sent[i])
//   v[i], S, theta as in dana-zero, by this g
//   sent:    theta - gamma S, of which sent[i] is the copy
//
// lambda = 0 is dana-zero, momentum 0 is dc-asgd-c (adaptive: dc-asgd-a), both bit for bit.
//
// With one worker theta - sent[i] is its own look-ahead, gamma eta v: that is compensated for as well, so one worker is
// Nesterov's SGD only if lambda = 0.
//
// How sure: recalled, with a constant lambda as in public simulators; the adaptive one is ours.

#include "optim/dana_zero.h"
#include "optim/delay_compensation.h"

namespace tg {

template <class Compensation>
struct DanaDcStep {
  Compensation compensated;
  DanaZeroStep step;
  template <class... Kept>
  TG_HD void operator()(float& w, float& v, double& sum, float sent, float g, Kept&... kept) const {
    step(w, v, sum, compensated(w, sent, g, kept...));
  }
};

struct DanaDcOptions {
  CompensationOptions compensation;
  DanaZeroOptions zero;

  static DanaDcOptions from(const Spec& spec);
};

class DanaDcUpdate : public DanaZeroUpdate {
 public:
  DanaDcUpdate(View initial, const DanaDcOptions& options)
      : DanaZeroUpdate(initial, options.zero), compensation_(options.compensation, size(), device()) {}

  void apply(WorkerId i, View gradient, const StepInfo& info) override {
    const Span velocity = velocities_.of(i);
    compensation_.with(i, [&]<class Compensation>(const Compensation& compensated, auto... kept) {
      for_each(DanaDcStep<Compensation>{compensated, step(i, info)}, theta_.span(), velocity, steps_.span(), info.sent,
               gradient, kept...);
    });
    rates_[i] = info.learning_rate;
  }
  void explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const override {
    explain_step(i, compensation_.explain(i, theta_.view(), info.sent, gradient, terms).view(), info, terms);
  }

  void join(WorkerId i) override {
    DanaZeroUpdate::join(i);
    compensation_.join(i);
  }
  void leave(WorkerId i) override {
    DanaZeroUpdate::leave(i);
    compensation_.leave(i);
  }
  void save(StateWriter& state) const override {
    DanaZeroUpdate::save(state);
    compensation_.save(state);
  }
  void load(const StateReader& state) override {
    DanaZeroUpdate::load(state);
    compensation_.load(state);
  }

 private:
  DelayCompensation compensation_;
};

class DanaDc : public ServerRule<DanaDcUpdate, DanaDcOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  bool needs_sent() const override { return true; }
};

}  // namespace tg
