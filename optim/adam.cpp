#include "optim/adam.h"

#include "optim/options.h"

namespace tg {

SpecInfo Adam::info() {
  const AdamOptions defaults;
  return {"adam",
          "Adam, a sequential baseline; one worker",
          {number_option("beta1", defaults.beta1, "share of the mean gradient that is kept at each step, 0 to 0.9999"),
           number_option("beta2", defaults.beta2, "share of the mean square that is kept at each step, 0 to 0.99999"),
           number_option("epsilon", defaults.epsilon, "added to the root of the mean square, 1e-12 to 1"),
           weight_decay_option(defaults.weight_decay)}};
}

AdamOptions AdamOptions::from(const Spec& spec) {
  return {.beta1 = number(spec, "beta1", 0, 0.9999),
          .beta2 = number(spec, "beta2", 0, 0.99999),
          .epsilon = number(spec, "epsilon", 1e-12, 1),
          .weight_decay = tg::weight_decay(spec)};
}

void AdamUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  using Parts = AdamStep::Parts;
  const auto say = [&](const char* name, auto part) {
    tell(terms, name, step(info), part, theta_.view(), mean_.view(), mean_square_.view(), gradient);
  };
  terms.term("g", gradient);
  say("weight_decay theta", &Parts::decay);
  say("m after = beta1 m + (1 - beta1) g", &Parts::m);
  say("v after = beta2 v + (1 - beta2) g g", &Parts::v);
  say("m unbiased = m / (1 - beta1^t)", &Parts::unbiased_m);
  say("v unbiased = v / (1 - beta2^t)", &Parts::unbiased_v);
  say("step = eta m / (sqrt(v) + epsilon)", &Parts::step);
}

void AdamUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  state.write("mean", mean_.view());
  state.write("mean_square", mean_square_.view());
  state.write("t", t_);
}

void AdamUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  state.read("mean", mean_.span());
  state.read("mean_square", mean_square_.span());
  t_ = state.read("t");
  require(t_ >= 0, "adam: the state has done {} steps; the snapshot is damaged", t_);
}

}  // namespace tg
