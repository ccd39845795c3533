#pragma once
// dc-asgd-c and dc-asgd-a: DC-ASGD with constant and with adaptive lambda (Zheng et al. 2017).
//
//   in the paper    here           meaning
//   w               w              parameters at the server
//   w_bak(m)        sent           what worker m was sent and took g at (the engine keeps it)
//   g               g              worker m's minibatch gradient
//   lambda_t        compensated    strength of the compensation: delay_compensation.h has its symbols and equations
//   eta             eta            learning rate, as it was told with w_bak
//                   gamma, v       momentum and velocity, as an option; not in the paper
//                   weight_decay   added at w, after the compensation of the raw gradient
//
//   w     <- w - eta (g + lambda_t g (.) g (.) (w - w_bak(m)) + weight_decay w)
//   with momentum:
//   v     <- gamma v + g + lambda_t g (.) g (.) (w - w_bak(m)) + weight_decay w
//   w     <- w - eta v
//   sent:    w, of which w_bak(m) is the copy
//
// lambda = 0 is asgd and one worker is sgd, both bit for bit: with one worker w is still what it was sent.
//
// Whose is the velocity? What the comparison of Hakimi et al. 2019 did is not known to us. MXNet's DC-ASGD has one on
// the server: the default. Simulators of DANA-DC compensate and then step by the worker's velocity: velocity=worker.
// That is multi-asgd with compensation, and also dana-dc without its look-ahead (there w - w_bak is measured from the
// look-ahead point that was sent).

#include "optim/delay_compensation.h"
#include "optim/sgd.h"

namespace tg {

template <class Compensation>
struct DcAsgdStep {
  Compensation compensated;
  PlainStep step;
  template <class... Kept>
  TG_HD void operator()(float& w, float sent, float g, Kept&... kept) const {
    step(w, compensated(w, sent, g, kept...));
  }
};

template <class Compensation>
struct DcAsgdMomentumStep {
  Compensation compensated;
  MomentumStep step;
  template <class... Kept>
  TG_HD void operator()(float& w, float& v, float sent, float g, Kept&... kept) const {
    step(w, v, compensated(w, sent, g, kept...));
  }
};

struct DcAsgdOptions {
  CompensationOptions compensation;
  float momentum = 0;
  Per velocity = Per::server;
  float weight_decay = 0;

  static DcAsgdOptions from(const Spec& spec);
};

class DcAsgdUpdate : public ThetaUpdate {
 public:
  DcAsgdUpdate(View initial, const DcAsgdOptions& options)
      : ThetaUpdate(initial),
        options_(options),
        compensation_(options.compensation, size(), device()),
        velocities_(options.momentum == 0 ? 0 : size(), device(), options.velocity) {}

  void apply(WorkerId m, View gradient, const StepInfo& info) override {
    compensation_.with(m, [&]<class Compensation>(const Compensation& compensated, auto... kept) {
      if (options_.momentum == 0)
        for_each(DcAsgdStep<Compensation>{compensated, plain(info)}, theta_.span(), info.sent, gradient, kept...);
      else
        for_each(DcAsgdMomentumStep<Compensation>{compensated, with_momentum(info)}, theta_.span(), velocities_.of(m),
                 info.sent, gradient, kept...);
    });
  }
  void explain(WorkerId m, View gradient, const StepInfo& info, Terms& terms) const override;

  void join(WorkerId m) override {
    compensation_.join(m);
    velocities_.join(m);
  }
  void leave(WorkerId m) override {
    compensation_.leave(m);
    velocities_.leave(m);
  }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  PlainStep plain(const StepInfo& info) const { return {info.learning_rate, options_.weight_decay}; }
  MomentumStep with_momentum(const StepInfo& info) const {
    return {info.learning_rate, options_.momentum, options_.weight_decay};
  }

  DcAsgdOptions options_;
  DelayCompensation compensation_;
  WorkerVectors velocities_;  // empty ones without momentum
};

class DcAsgd : public ServerRule<DcAsgdUpdate, DcAsgdOptions> {
 public:
  using ServerRule::ServerRule;
  bool needs_sent() const override { return true; }
};

class DcAsgdC : public DcAsgd {
 public:
  using DcAsgd::DcAsgd;
  static SpecInfo info();
};

class DcAsgdA : public DcAsgd {
 public:
  using DcAsgd::DcAsgd;
  static SpecInfo info();
};

}  // namespace tg
