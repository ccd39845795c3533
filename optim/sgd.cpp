#include "optim/sgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo Sgd::info() {
  const SgdOptions defaults;
  return {"sgd",
          "sequential stochastic gradient descent, the baseline; one worker",
          {momentum_option(defaults.momentum), nesterov_option(defaults.nesterov),
           weight_decay_option(defaults.weight_decay)}};
}

SgdOptions SgdOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec), .nesterov = spec.flag("nesterov"), .weight_decay = tg::weight_decay(spec)};
}

void SgdUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  state.write("velocity", velocity_.view());
  state.write("rate", View(&eta_, 1));
}

void SgdUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  state.read("velocity", velocity_.span());
  state.read("rate", Span(&eta_, 1));
}

}  // namespace tg
