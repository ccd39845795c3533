#include "optim/local_sgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo LocalSgd::info() {
  const LocalSgdOptions defaults;
  return {"local-sgd",
          "rounds of several steps at each worker, then the mean of where they came to",
          {period_option(defaults.period), weight_decay_option(defaults.weight_decay)}};
}

LocalSgdOptions LocalSgdOptions::from(const Spec& spec) {
  return {.period = tg::period(spec), .weight_decay = tg::weight_decay(spec)};
}

// As if the round ended with this message.
void LocalSgdUpdate::explain(WorkerId, View difference, const StepInfo&, Terms& terms) const {
  terms.term("d = theta - x", difference);
  terms.term(fmt::format("step = (1/{0}) sum of the {0} d of this round so far", round_.taken() + 1),
             round_.mean_with(difference).view());
}

void LocalSgdUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  round_.save(state);
}

void LocalSgdUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  round_.load(state);
}

}  // namespace tg
