#include "optim/multi_asgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo MultiAsgd::info() {
  const MultiAsgdOptions defaults;
  return {"multi-asgd",
          "asynchronous SGD with a velocity per worker and no look-ahead",
          {momentum_option(defaults.momentum), weight_decay_option(defaults.weight_decay)}};
}

MultiAsgdOptions MultiAsgdOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec), .weight_decay = tg::weight_decay(spec)};
}

void MultiAsgdUpdate::explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const {
  terms.term("g", gradient);
  tg::explain(step(info), theta_.view(), velocities_.of(i), gradient, terms);
}

void MultiAsgdUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  velocities_.save(state, "velocity");
}

void MultiAsgdUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  velocities_.load(state, "velocity");
}

}  // namespace tg
