#pragma once
// dana-slim: DANA-Slim (Hakimi et al. 2019). Each worker keeps its own velocity and sends a step that looks ahead
// already; to the server it is plain asynchronous SGD.
//
//   in the paper    here             meaning
//   Theta           theta, received  the vector at the server, and what worker i was sent of it some updates ago
//   g               message, g       worker i's minibatch gradient at what it was sent
//   v               velocity, v      worker i's velocity; holds no learning rate
//   eta             eta              learning rate, as it was told with those parameters
//   gamma           gamma            momentum
//   u               message, u       what worker i sends
//                   ahead            gamma (eta_old v_old): how far Theta is ahead by this worker's velocity
//                   weight_decay     added to the gradient at what was received: the worker has no other theta
//
//   worker:  v     <- gamma v + g + weight_decay received
//            send  u = eta v + gamma (eta v - eta_old v_old)         eta_old, v_old: those of its last message
//   server:  Theta <- Theta - u
//   sent:    Theta
//
// Why this is DANA-Zero: add up the look-ahead parts gamma (eta v - eta_old v_old) of all messages. All but the last of
// each worker cancel, so Theta = theta - sum over workers j of gamma (eta_j v_j), where theta is dana-zero's: Theta is
// the point that dana-zero sends. The two rules send the same vectors, to rounding and under any schedule, if there
// is no weight decay. (The paper sends gamma v + g, and the server multiplies by eta: the same while eta is constant.)
//
// Which theta is the model? Theta, the look-ahead point: the server has no other.
//
// A worker that leaves in good order sends -gamma (eta_old v_old): Theta is then ahead by the others' velocities alone,
// as dana-zero's look-ahead is when a worker leaves. One that crashes cannot, and Theta stays displaced by that vector,
// gamma times the worker's last step.
//
// How sure: recalled for a constant rate, derived for one that changes.

#include "optim/server_rule.h"
#include "optim/sgd.h"

namespace tg {

struct DanaSlimStep {
  MomentumStep step;
  struct Parts {
    float decay, v, step, ahead, u;
  };
  TG_HD Parts parts(float received, float v, float ahead, float g) const {
    const MomentumStep::Parts own = step.parts(received, v, g);
    return {own.decay, own.v, own.step, own.ahead, own.step + (own.ahead - ahead)};
  }
  // `message` is g before and u after; `before` takes v as it was.
  TG_HD void operator()(float& message, float& v, float& before, float& ahead, float received) const {
    const Parts after = parts(received, v, ahead, message);
    message = after.u;
    before = v;
    v = after.v;
    ahead = after.ahead;
  }
};

struct DanaSlimOptions {
  float momentum = 0.9f;
  float weight_decay = 0;

  static DanaSlimOptions from(const Spec& spec);
};

class DanaSlimWorker : public Worker {
 public:
  DanaSlimWorker(const Layout& layout, const DanaSlimOptions& options)
      : options_(options), velocity_(layout.size(), kCpu), before_(layout.size(), kCpu), ahead_(layout.size(), kCpu) {}

  void work(View received, const StepInfo& info, Oracle& oracle, Span message) override {
    oracle.gradient(received, message);
    for_each(step(info), message, velocity_.span(), before_.span(), ahead_.span(), received);
    eta_before_ = eta_;
    eta_ = info.learning_rate;
  }
  void explain(View received, const StepInfo& info, Oracle& oracle, Terms& terms) const override;
  void not_taken() override;
  bool farewell(Span message) override;
  View ahead() const override { return ahead_.view(); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  DanaSlimStep step(const StepInfo& info) const {
    return {{info.learning_rate, options_.momentum, options_.weight_decay}};
  }

  DanaSlimOptions options_;
  Vector<float> velocity_, before_;  // v; and v before the last message, should that be refused
  Vector<float> ahead_;              // gamma (eta_old v_old)
  float eta_ = 0, eta_before_ = 0;   // the rates that both were last applied with
};

// Asynchronous SGD without rate and weight decay, which the worker has dealt with: a message is the step.
class DanaSlimUpdate : public ThetaUpdate {
 public:
  explicit DanaSlimUpdate(View initial) : ThetaUpdate(initial) {}
  void apply(WorkerId, View u, const StepInfo&) override { for_each(Subtract{}, theta_.span(), u); }
  void explain(WorkerId, View u, const StepInfo&, Terms& terms) const override { terms.term("step = u", u); }
};

class DanaSlim : public Rule {
 public:
  using Options = DanaSlimOptions;
  explicit DanaSlim(const Options& options = {}) : options_(options) {}
  static SpecInfo info();
  std::unique_ptr<Update> update(const Layout&, View initial) const override {
    return std::make_unique<DanaSlimUpdate>(initial);
  }
  std::unique_ptr<Worker> worker(WorkerId, const Layout& layout) const override {
    return std::make_unique<DanaSlimWorker>(layout, options_);
  }

 private:
  Options options_;
};

}  // namespace tg
