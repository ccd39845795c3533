#pragma once
// local-sgd: local SGD. In each round all workers make H steps of their own from the same theta, and the mean of the
// points that they reach is the next theta. It is what easgd is to be compared with: as many messages, but no models
// that stay apart.
//
//   in the papers   here           meaning
//   theta           theta          parameters at the server, the start of a round
//   x               x              a worker's parameters within the round
//   g(x)                           minibatch gradient at x
//   H               period         local steps to a round
//   eta             eta            learning rate, as it was told with theta; the same for the H steps
//   N               n              messages taken in this round
//                   weight_decay   added to the gradient at x
//
//   worker:  x <- theta
//            H times:  x <- x - eta (g(x) + weight_decay x)
//            send  d = theta - x
//   barrier: wait for all workers
//   server:  theta <- theta - (1/n) sum of d        that is, the mean of the x
//   sent:    theta, to all workers of the round
//
// With H = 1 it is ssgd without momentum, to rounding.
//
// How sure: recalled.

#include "optim/gates.h"
#include "optim/local_worker.h"
#include "optim/round.h"

namespace tg {

struct LocalSgdOptions {
  int64_t period = 10;
  float weight_decay = 0;

  static LocalSgdOptions from(const Spec& spec);
};

class LocalSgdUpdate : public ThetaUpdate {
 public:
  LocalSgdUpdate(View initial, const LocalSgdOptions&) : ThetaUpdate(initial), round_(size(), device()) {}

  void apply(WorkerId worker, View difference, const StepInfo&) override { round_.take(worker, difference); }
  void explain(WorkerId, View difference, const StepInfo&, Terms& terms) const override;
  void reply(WorkerId worker, Span out, const StepInfo& info) override {
    if (round_.closed_by_reply_to(worker)) for_each(Subtract{}, theta_.span(), round_.close());
    ThetaUpdate::reply(worker, out, info);
  }
  // theta changes between rounds only, so no message that is taken is ever late.
  bool theta_changed() const override { return false; }

  void join(WorkerId worker) override { round_.join(worker); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  Round round_;
};

class LocalSgd : public ServerRule<LocalSgdUpdate, LocalSgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  std::unique_ptr<Gate> gate() const override { return std::make_unique<Bsp>(); }
  bool needs_rounds() const override { return true; }
  std::unique_ptr<Worker> worker(WorkerId, const Layout& layout) const override {
    return std::make_unique<LocalWorker>(layout, options_.weight_decay);
  }
  int64_t batches() const override { return options_.period; }
};

}  // namespace tg
