#pragma once
// ssgd: synchronous SGD. All workers compute at the same theta; when all have sent their gradients, the mean of these
// makes one step. (Backup workers: Chen et al. 2016; linear scaling: Goyal et al. 2017.)
//
//   in the papers   here              meaning
//   theta           theta             parameters at the server, the same for the whole round
//   N               n                 messages taken in this round: fewer than workers after deaths or with backup
//   g_i             gradient          worker i's minibatch gradient at this round's theta
//   (1/N) sum g_i   round_            the mean over the messages taken
//   eta             eta               learning rate: mean of those told to these workers, equal unless one joined late
//   N eta           linear_scaling    the rate for a batch n times as large (Goyal et al. 2017), as an option
//   b               backup            so many workers are not waited for
//
//   barrier: wait for all workers (Bsp), or all but `backup` of them
//   g     =  (1/n) sum of g_i
//   theta <- one step of sgd by g, with momentum, Nesterov's look-ahead and weight decay as there
//   sent:    as in sgd, to all workers of the round
//
// With scale and a schedule that warms up from eta / N, the rate begins at eta and grows to N eta: the gradual warm-up
// of Goyal et al. Their momentum correction is for velocities that hold the rate; ours do not.
//
// n equal messages make the same step as one, bit for bit (round.h says why).

#include "optim/gates.h"
#include "optim/round.h"
#include "optim/sgd.h"

namespace tg {

struct SsgdOptions {
  SgdOptions sgd;
  int backup = 0;
  bool linear_scaling = false;

  static SsgdOptions from(const Spec& spec);
};

class SsgdUpdate : public Update {
 public:
  SsgdUpdate(View initial, const SsgdOptions& options)
      : sgd_(initial, options.sgd), linear_scaling_(options.linear_scaling), round_(initial.size, initial.device) {}

  void apply(WorkerId worker, View gradient, const StepInfo& info) override {
    round_.take(worker, gradient);
    rates_ += static_cast<double>(info.learning_rate);
  }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

  void reply(WorkerId worker, Span out, const StepInfo& info) override {
    if (round_.closed_by_reply_to(worker)) close_round();
    sgd_.reply(worker, out, info);
  }
  View theta() const override { return sgd_.theta(); }
  // theta changes between rounds only, so no message that is taken is ever late.
  bool theta_changed() const override { return false; }

  void join(WorkerId worker) override { round_.join(worker); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  void close_round() {
    const float rate = eta(rates_, round_.taken());
    sgd_.apply(0, round_.close(), {.learning_rate = rate});
    rates_ = 0;
  }

  float eta(double rates, int64_t n) const {
    return static_cast<float>(linear_scaling_ ? rates : rates / static_cast<double>(n));
  }

  SgdUpdate sgd_;
  bool linear_scaling_;
  Round round_;
  double rates_ = 0;
};

class Ssgd : public ServerRule<SsgdUpdate, SsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  std::unique_ptr<Gate> gate() const override { return std::make_unique<Bsp>(options_.backup); }
  bool needs_rounds() const override { return true; }
};

}  // namespace tg
