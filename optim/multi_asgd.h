#pragma once
// multi-asgd: Multi-ASGD, asynchronous SGD with a velocity per worker (a comparison in Hakimi et al. 2019).
//
//   in the paper    here           meaning
//   theta           theta, w       parameters at the server
//   g               gradient, g    worker i's minibatch gradient, at the parameters it was sent some updates ago
//   v[i]            velocity, v    worker i's velocity; holds no learning rate
//   eta             eta            learning rate, as it was told with those parameters
//   gamma           gamma          momentum
//                   weight_decay   added to the gradient at the server's theta
//
//   v[i]  <- gamma v[i] + g + weight_decay theta
//   theta <- theta - eta v[i]
//   sent:    theta
//
// There is no look-ahead: what the N velocities will do to theta before the gradient arrives is the gap that dana-zero
// closes. One worker is sgd with momentum, bit for bit.
//
// How sure: recalled.

#include "optim/sgd.h"

namespace tg {

struct MultiAsgdOptions {
  float momentum = 0.9f;
  float weight_decay = 0;

  static MultiAsgdOptions from(const Spec& spec);
};

class MultiAsgdUpdate : public ThetaUpdate {
 public:
  MultiAsgdUpdate(View initial, const MultiAsgdOptions& options)
      : ThetaUpdate(initial), options_(options), velocities_(initial.size, initial.device) {}

  void apply(WorkerId i, View gradient, const StepInfo& info) override {
    for_each(step(info), theta_.span(), velocities_.of(i), gradient);
  }
  void explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const override;

  void join(WorkerId i) override { velocities_.join(i); }
  void leave(WorkerId i) override { velocities_.leave(i); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  MomentumStep step(const StepInfo& info) const {
    return {info.learning_rate, options_.momentum, options_.weight_decay};
  }

  MultiAsgdOptions options_;
  WorkerVectors velocities_;
};

class MultiAsgd : public ServerRule<MultiAsgdUpdate, MultiAsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
};

}  // namespace tg
