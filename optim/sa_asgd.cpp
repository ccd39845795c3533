#include "optim/sa_asgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo SaAsgd::info() {
  const SaAsgdOptions defaults;
  return {"sa-asgd",
          "staleness-aware asynchronous SGD: the rate is divided by the gradient's lag",
          {momentum_option(defaults.momentum), weight_decay_option(defaults.weight_decay)}};
}

SaAsgdOptions SaAsgdOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec), .weight_decay = tg::weight_decay(spec)};
}

void SaAsgdUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  terms.term("g", gradient);
  sgd_.explain_step(gradient, alpha(info), terms);
}

}  // namespace tg
