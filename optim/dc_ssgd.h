#pragma once
// dc-ssgd: DC-SSGD, delay compensation within the rounds of synchronous SGD (Zheng et al. 2017, appendix). A round's N
// gradients, all taken at its first parameters, are applied one after the other in the order of their arrival, each
// compensated for those before it: nearer to N steps of sequential SGD than one step by the sum.
//
//   in the paper    here           meaning
//   w_t             theta          parameters of this round, which all workers were sent
//                   sent           w_t as it was decoded at worker m
//   g_m             gradient, g    worker m's minibatch gradient at w_t
//   w~              w              where the gradients that have arrived so far lead: w_t - sum
//                   sum            this round's steps so far; theta itself changes only with the last
//   lambda_t                       strength of the compensation, constant or adaptive: delay_compensation.h
//   eta             eta            learning rate, as it was told with w_t
//                   weight_decay   added at w~, after the compensation of the raw gradient
//
//   barrier: wait for all workers (Bsp), or all but `backup` of them
//   for each gradient:
//     w~  =  w_t - sum
//     sum <- sum + eta (g_m + lambda_t g_m (.) g_m (.) (w~ - w_t) + weight_decay w~)
//   with the round's last:
//     w_(t+1) = w_t - sum
//   sent:    w_(t+1), to all workers of the round
//
// How sure: recalled, not checked against the paper.
//
// Each gradient has the whole rate, so a round moves N times as far as by the mean: with lambda = 0 and no weight decay
// it is ssgd:scale=true, to rounding. Give eta / N for rounds as long as those of ssgd. One worker is sgd, bit for bit.

#include "optim/delay_compensation.h"
#include "optim/gates.h"
#include "optim/round.h"
#include "optim/sgd.h"

namespace tg {

template <class Compensation>
struct DcSsgdStep {
  Compensation compensated;
  PlainStep step;
  template <class... Kept>
  TG_HD void operator()(float& sum, float theta, float sent, float g, Kept&... kept) const {
    const float w = theta - sum;
    sum += step.parts(w, compensated(w, sent, g, kept...)).step;
  }
};

// Ends the round.
struct TakeSum {
  TG_HD void operator()(float& theta, float& sum) const {
    theta -= sum;
    sum = 0;
  }
};

struct DcSsgdOptions {
  CompensationOptions compensation;
  int backup = 0;
  float weight_decay = 0;

  static DcSsgdOptions from(const Spec& spec);
};

class DcSsgdUpdate : public ThetaUpdate {
 public:
  DcSsgdUpdate(View initial, const DcSsgdOptions& options)
      : ThetaUpdate(initial),
        options_(options),
        compensation_(options.compensation, size(), device()),
        sum_(size(), device()) {}

  void apply(WorkerId m, View gradient, const StepInfo& info) override {
    compensation_.with(m, [&]<class Compensation>(const Compensation& compensated, auto... kept) {
      for_each(DcSsgdStep<Compensation>{compensated, step(info)}, sum_.span(), theta_.view(), info.sent, gradient,
               kept...);
    });
    round_.take(m);
  }
  void explain(WorkerId m, View gradient, const StepInfo& info, Terms& terms) const override;

  void reply(WorkerId m, Span out, const StepInfo& info) override {
    if (round_.closed_by_reply_to(m)) {
      for_each(TakeSum{}, theta_.span(), sum_.span());
      round_.begin();
    }
    Update::reply(m, out, info);
  }
  bool theta_changed() const override { return false; }  // between rounds only

  void join(WorkerId m) override {
    round_.join(m);
    compensation_.join(m);
  }
  void leave(WorkerId m) override { compensation_.leave(m); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  PlainStep step(const StepInfo& info) const { return {info.learning_rate, options_.weight_decay}; }

  DcSsgdOptions options_;
  DelayCompensation compensation_;
  Vector<float> sum_;
  RoundMembers round_;
};

class DcSsgd : public ServerRule<DcSsgdUpdate, DcSsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  std::unique_ptr<Gate> gate() const override { return std::make_unique<Bsp>(options_.backup); }
  bool needs_rounds() const override { return true; }
  bool needs_sent() const override { return true; }
};

}  // namespace tg
