#pragma once
// asgd: asynchronous SGD (Downpour). The server takes each gradient as it comes, however late, and replies at once.
//
//   in the papers   here           meaning
//   theta           theta, w       parameters at the server
//   g_i             gradient       worker i's minibatch gradient, at the parameters it was sent some updates ago
//   eta             eta            learning rate, as it was told with those parameters
//                   weight_decay   added to the gradient at the server's theta
//
//   theta <- theta - eta (g_i + weight_decay theta)
//   sent:    theta

#include "optim/sgd.h"

namespace tg {

struct AsgdOptions {
  float weight_decay = 0;

  static AsgdOptions from(const Spec& spec);
};

class AsgdUpdate : public ThetaUpdate {
 public:
  AsgdUpdate(View initial, const AsgdOptions& options) : ThetaUpdate(initial), options_(options) {}

  void apply(WorkerId, View gradient, const StepInfo& info) override { for_each(step(info), theta_.span(), gradient); }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

 private:
  PlainStep step(const StepInfo& info) const { return {info.learning_rate, options_.weight_decay}; }

  AsgdOptions options_;
};

class Asgd : public ServerRule<AsgdUpdate, AsgdOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
};

}  // namespace tg
