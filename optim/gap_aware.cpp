#include "optim/gap_aware.h"

#include "optim/options.h"

namespace tg {

SpecInfo GapAware::info() {
  const GapAwareOptions defaults;
  return {"gap-aware",
          "a velocity per worker; each coordinate of a gradient is divided by how far the server has moved from it",
          {momentum_option(defaults.momentum),
           number_option("keep", defaults.keep,
                         "share of the velocities' mean square that is kept at each step, 0 to 0.9999"),
           number_option("epsilon", defaults.epsilon, "least size of a typical step, 1e-30 to 1"),
           weight_decay_option(defaults.weight_decay)}};
}

GapAwareOptions GapAwareOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec),
          .keep = number(spec, "keep", 0, 0.9999),
          .epsilon = number(spec, "epsilon", 1e-30, 1),
          .weight_decay = tg::weight_decay(spec)};
}

void GapAwareUpdate::explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const {
  using Parts = GapAwareStep::Parts;
  const View velocity = velocities_.of(i);
  const auto say = [&](const char* name, auto part) {
    tell(terms, name, step(info), part, theta_.view(), velocity, mean_square_.view(), info.sent, gradient);
  };
  terms.term("g", gradient);
  say("C = eta_max sqrt(mean_square / (1 - keep^t)) + epsilon", &Parts::typical);
  say("Gap = |theta - theta[i]| / C + 1", &Parts::gap);
  say("g / Gap", &Parts::divided);
  say("weight_decay theta", &Parts::decay);
  terms.term("v[i] before", velocity);
  say("v[i] after = gamma v[i] + g / Gap + weight_decay theta", &Parts::v);
  say("step = eta v[i]", &Parts::step);
}

void GapAwareUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  velocities_.save(state, "velocity");
  state.write("mean_square", mean_square_.view());
  state.write("steps", steps_);
}

void GapAwareUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  velocities_.load(state, "velocity");
  state.read("mean_square", mean_square_.span());
  steps_ = state.read("steps");
  require(steps_ >= 0, "gap-aware: the state has taken {} steps; the snapshot is damaged", steps_);
}

}  // namespace tg
