#include "optim/nag_asgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo NagAsgd::info() {
  const NagAsgdOptions defaults;
  return {"nag-asgd",
          "asynchronous SGD with one velocity on the server; workers are sent where it leads in a step",
          {momentum_option(defaults.momentum), weight_decay_option(defaults.weight_decay)}};
}

NagAsgdOptions NagAsgdOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec), .weight_decay = tg::weight_decay(spec)};
}

void NagAsgdUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  const MomentumStep next = step(info.learning_rate);
  terms.term("g", gradient);
  tg::explain(next, theta_.view(), velocity_.view(), gradient, terms);
  tell(terms, "look-ahead = gamma eta v", next, &MomentumStep::Parts::ahead, theta_.view(), velocity_.view(), gradient);
}

void NagAsgdUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  state.write("velocity", velocity_.view());
  state.write("rate", View(&eta_, 1));
}

void NagAsgdUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  state.read("velocity", velocity_.span());
  state.read("rate", Span(&eta_, 1));
}

}  // namespace tg
