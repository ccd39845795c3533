#include "optim/dana_zero.h"

#include "optim/options.h"

namespace tg {

SpecInfo DanaZero::info() {
  const DanaZeroOptions defaults;
  return {"dana-zero",
          "asynchronous SGD with a velocity per worker; workers are sent where all velocities lead",
          {momentum_option(defaults.momentum), weight_decay_option(defaults.weight_decay)}};
}

DanaZeroOptions DanaZeroOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec), .weight_decay = tg::weight_decay(spec)};
}

void DanaZeroUpdate::explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const {
  terms.term("g", gradient);
  explain_step(i, gradient, info, terms);
}

void DanaZeroUpdate::explain_step(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const {
  using Parts = DanaZeroStep::Parts;
  const View velocity = velocities_.of(i);
  const auto say = [&](const char* name, auto part) {
    tell(terms, name, step(i, info), part, theta_.view(), velocity, steps_.view(), gradient);
  };
  say("weight_decay theta", &Parts::decay);
  terms.term("v[i] before", velocity);
  say("v[i] after = gamma v[i] + g + weight_decay theta", &Parts::v);
  say("step = eta v[i]", &Parts::step);
  say("S after = sum of eta_j v[j]", &Parts::sum);
  say("look-ahead = gamma S", &Parts::ahead);
}

void DanaZeroUpdate::leave(WorkerId i) {
  if (!velocities_.has(i)) return;
  for_each(DanaZeroForget{rates_[i]}, steps_.span(), View(velocities_.of(i)));
  velocities_.leave(i);
  rates_.erase(i);
}

void DanaZeroUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  velocities_.save(state, "velocity");
  for (const auto& [id, rate] : rates_) state.write(fmt::format("rate/{}", id), View(&rate, 1));
  state.write("steps", steps_.view());
}

void DanaZeroUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  velocities_.load(state, "velocity");
  rates_.clear();
  for (const WorkerId id : velocities_.workers()) state.read(fmt::format("rate/{}", id), Span(&rates_[id], 1));
  state.read("steps", steps_.span());
}

}  // namespace tg
