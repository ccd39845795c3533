#include "optim/asgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo Asgd::info() {
  const AsgdOptions defaults;
  return {"asgd",
          "asynchronous SGD: every gradient is applied as it arrives, however late",
          {weight_decay_option(defaults.weight_decay)}};
}

AsgdOptions AsgdOptions::from(const Spec& spec) { return {.weight_decay = tg::weight_decay(spec)}; }

void AsgdUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  terms.term("g", gradient);
  tg::explain(step(info), theta_.view(), gradient, terms);
}

}  // namespace tg
