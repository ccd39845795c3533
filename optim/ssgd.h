#pragma once
// ssgd: synchronous SGD. All workers compute at the same theta; when all have arrived, the mean of their gradients
// makes one step.
//
//   in the papers   here              meaning
//   N               n                 messages taken in this round; deaths and backup workers make them fewer
//   g_i             gradient          worker i's minibatch gradient at this round's parameters
//   (1/N) sum g_i   mean_             over the messages taken; 1/n is applied here and nowhere else
//   eta             eta               mean of the rates told to these workers, equal unless one joined late
//   N eta           linear_scaling    the rate for a batch n times as large (Goyal et al. 2017), as an option
//
//   barrier: wait for all workers (Bsp), or all but `backup` of them
//   theta <- one step of sgd, by the mean gradient, with momentum, Nesterov's look-ahead and weight decay as there
//
// n equal messages make the same step as one: the sum is kept in double, where up to 2^29 equal floats add up exactly.

#include <set>

#include "optim/gates.h"
#include "optim/sgd.h"

namespace tg {

struct AddTo {
  TG_HD void operator()(double& sum, float g) const { sum += static_cast<double>(g); }
};

// Writes the mean and empties the sum for the next round.
struct TakeMean {
  double n;
  TG_HD void operator()(float& mean, double& sum) const {
    mean = static_cast<float>(sum / n);
    sum = 0;
  }
};

struct SsgdOptions {
  SgdOptions sgd;
  int backup = 0;
  bool linear_scaling = false;

  static SsgdOptions from(const Spec& spec);
};

class SsgdUpdate : public Update {
 public:
  SsgdUpdate(View initial, const SsgdOptions& options)
      : sgd_(initial, options.sgd),
        linear_scaling_(options.linear_scaling),
        sum_(initial.size, initial.device),
        mean_(initial.size, initial.device) {}

  void apply(WorkerId worker, View gradient, const StepInfo& info) override {
    for_each(AddTo{}, sum_.span(), gradient);
    rates_ += static_cast<double>(info.learning_rate);
    ++taken_;
    in_round_.insert(worker);
  }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

  // A reply to a worker whose gradient is in the sum means that the gate has closed the round. (One that joins, or
  // comes late from an earlier round, is sent theta as it is.) Until then theta() is the last round's: nobody sees half
  // a round, and a run that ends within one leaves it out.
  void reply(WorkerId worker, Span out, const StepInfo& info) override {
    if (in_round_.count(worker) != 0) close_round();
    sgd_.reply(worker, out, info);
  }
  View theta() const override { return sgd_.theta(); }
  // theta changes between rounds only, so no message that is taken is ever late.
  bool theta_changed() const override { return false; }

  // What a worker sent before it left stays in the round's sum, but when it comes again it is new to the round.
  void join(WorkerId worker) override { in_round_.erase(worker); }

  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  void close_round() {
    for_each(TakeMean{static_cast<double>(taken_)}, mean_.span(), sum_.span());
    sgd_.apply(0, mean_.view(), {.learning_rate = eta(rates_, taken_)});
    rates_ = 0;
    taken_ = 0;
    in_round_.clear();
  }

  float eta(double rates, int64_t n) const {
    return static_cast<float>(linear_scaling_ ? rates : rates / static_cast<double>(n));
  }

  SgdUpdate sgd_;
  bool linear_scaling_;
  Vector<double> sum_;
  Vector<float> mean_;
  double rates_ = 0;
  int64_t taken_ = 0;
  std::set<WorkerId> in_round_;
};

class Ssgd : public ServerRule<SsgdUpdate, SsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  std::unique_ptr<Gate> gate() const override { return std::make_unique<Bsp>(options_.backup); }
  bool needs_rounds() const override { return true; }
};

}  // namespace tg
