#pragma once
// easgd: elastic averaging SGD (Zhang, Choromanska, LeCun 2015), asynchronous. Each worker trains a model of its own,
// and every tau steps an elastic force pulls it and the center towards each other.
//
//   in the paper    here           meaning
//   x~              center         the model: a moving average of the workers' models (theta_ below)
//   x^i             x_i, x         worker i's model; the server keeps it between messages
//   g(x_i)                         minibatch gradient at x_i
//   tau             period         minibatches between two exchanges
//   eta             eta            learning rate, as it was told with x_i; the same for the tau steps
//   alpha           alpha          moving rate beta / N; the paper's rho is alpha / eta
//   beta            beta           N alpha
//   N (p)           info.workers   number of live workers
//                   weight_decay   added to the gradient at x_i
//
//   worker, tau times:      x_i    <- x_i - eta (g(x_i) + weight_decay x_i)
//   then, as one step:      e      =  alpha (x_i - center)
//                           x_i    <- x_i - e
//                           center <- center + e
//   sent:    x_i after the exchange
//
// Who makes the exchange? It is one step in the paper, and the center has moved on while the worker computed: so the
// server does both halves. The worker sends how far its local loop has moved x_i and is sent x_i after the exchange. So
// it needs no memory, and a message can be compressed as a gradient can. (In the paper a worker takes the gradient of
// its first step before the exchange and applies it after: a difference of order eta alpha in where it was taken.)
// Under rounds (--gate bsp) the workers exchange one after another, not all with the same center as in the paper's
// synchronous form.
//
// The default beta is for several workers: with one, alpha = beta. With alpha = 1/2 worker and center meet half-way;
// with 1 they change places.
//
// A worker that joins begins at the center. When one leaves, its x_i goes; what the center took of it stays.
//
// How sure: recalled.

#include "optim/local_worker.h"

namespace tg {

struct ElasticExchange {
  float alpha;
  struct Parts {
    float x, e, step, after;
  };
  TG_HD Parts parts(float x_i, float center, float message) const {
    const float x = x_i - message, e = alpha * (x - center);
    return {x, e, -e, x - e};
  }
  TG_HD void operator()(float& x_i, float& center, float message) const {
    const Parts exchange = parts(x_i, center, message);
    x_i = exchange.after;
    center += exchange.e;
  }
};

struct EasgdOptions {
  float beta = 0.9f;
  int64_t period = 10;
  float weight_decay = 0;

  static std::vector<OptionInfo> infos();
  static EasgdOptions from(const Spec& spec);
};

// theta_ is the center.
class EasgdUpdate : public ThetaUpdate {
 public:
  EasgdUpdate(View initial, const EasgdOptions& options)
      : ThetaUpdate(initial), beta_(options.beta), x_(initial.size, initial.device) {}

  void apply(WorkerId i, View message, const StepInfo& info) override {
    for_each(exchange(info), x_.of(i), theta_.span(), message);
  }
  void explain(WorkerId i, View message, const StepInfo& info, Terms& terms) const override;
  void reply(WorkerId i, Span out, const StepInfo&) override { for_each(Copy{}, out, View(x_.of(i))); }

  void join(WorkerId i) override;
  void leave(WorkerId i) override { x_.leave(i); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  ElasticExchange exchange(const StepInfo& info) const { return {beta_ / static_cast<float>(info.workers)}; }

  float beta_;
  WorkerVectors x_;
};

class Easgd : public ServerRule<EasgdUpdate, EasgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  std::unique_ptr<Worker> worker(WorkerId, const Layout& layout) const override {
    return std::make_unique<LocalWorker>(layout, options_.weight_decay);
  }
  int64_t batches() const override { return options_.period; }
  bool needs_exact_reply() const override { return true; }  // x_i is here and there
};

}  // namespace tg
