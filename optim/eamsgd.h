#pragma once
// eamsgd: elastic averaging with momentum (Zhang, Choromanska, LeCun 2015): easgd whose workers' local steps are
// Nesterov's.
//
//   in the paper    here           meaning
//   x~, x^i         center, x      as in easgd.h
//   v^i             velocity, v    worker i's velocity; holds no learning rate (the paper's does: it is -eta v)
//   delta           gamma          momentum
//   eta             eta            learning rate, as it was told with x; the same for the tau steps
//   tau, alpha      period, beta / N   as in easgd.h
//                   weight_decay   added to the gradient at x
//
//   worker, tau times:  g     =  minibatch gradient at x - gamma (eta_old v)
//                       v     <- gamma v + g + weight_decay x
//                       x     <- x - eta v                       eta_old: the rate that v was last applied with
//   then the exchange, as in easgd
//   sent:    x after the exchange
//
// The velocity stays with the worker through exchanges, which move x but not v, as in the paper.
//
// How sure: recalled.

#include "optim/easgd.h"

namespace tg {

struct EamsgdOptions : EasgdOptions {
  float momentum = 0.99f;

  static EamsgdOptions from(const Spec& spec);
};

class EamsgdWorker : public Worker {
 public:
  EamsgdWorker(const Layout& layout, const EamsgdOptions& options)
      : gamma_(options.momentum),
        weight_decay_(options.weight_decay),
        x_(layout.size(), kCpu),
        at_(layout.size(), kCpu),
        velocity_(layout.size(), kCpu),
        before_(layout.size(), kCpu) {}

  void work(View received, const StepInfo& info, Oracle& oracle, Span message) override {
    for_each(Copy{}, before_.span(), velocity_.view());
    eta_before_ = eta_;
    for_each(Copy{}, x_.span(), received);
    const Span gradient = message;  // until the loop is done
    do {
      for_each(LookAhead{eta_, gamma_}, at_.span(), x_.view(), velocity_.view());
      oracle.gradient(at_.view(), gradient);
      eta_ = info.learning_rate;
      for_each(MomentumStep{eta_, gamma_, weight_decay_}, x_.span(), velocity_.span(), View(gradient));
    } while (oracle.next_batch());
    for_each(Difference{}, message, received, x_.view());
  }
  void explain(View received, const StepInfo& info, Oracle& oracle, Terms& terms) const override;
  // x is again what the server has; so must the velocity be.
  void not_taken() override {
    for_each(Copy{}, velocity_.span(), before_.view());
    eta_ = eta_before_;
  }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  float gamma_, weight_decay_;
  Vector<float> x_, at_;             // nothing of them is kept from one message to the next
  Vector<float> velocity_, before_;  // v; and v before the last message, should that be refused
  float eta_ = 0, eta_before_ = 0;   // the rates that both were last applied with
};

class Eamsgd : public ServerRule<EasgdUpdate, EamsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  std::unique_ptr<Worker> worker(WorkerId, const Layout& layout) const override {
    return std::make_unique<EamsgdWorker>(layout, options_);
  }
  int64_t batches() const override { return options_.period; }
  bool needs_exact_reply() const override { return true; }  // x_i is here and there
};

}  // namespace tg
