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

void explain(const PlainStep& step, View theta, View gradient, Terms& terms) {
  const auto say = [&](const char* name, auto part) { tell(terms, name, step, part, theta, gradient); };
  say("weight_decay theta", &PlainStep::Parts::decay);
  say("step = eta (g + weight_decay theta)", &PlainStep::Parts::step);
}

void explain(const MomentumStep& step, View theta, View velocity, View gradient, Terms& terms) {
  const auto say = [&](const char* name, auto part) { tell(terms, name, step, part, theta, velocity, gradient); };
  say("weight_decay theta", &MomentumStep::Parts::decay);
  terms.term("v before", velocity);
  say("v after = gamma v + g + weight_decay theta", &MomentumStep::Parts::v);
  say("step = eta v", &MomentumStep::Parts::step);
}

void SgdUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  terms.term("g", gradient);
  explain_step(gradient, info.learning_rate, terms);
}

void SgdUpdate::explain_step(View gradient, float eta, Terms& terms) const {
  if (options_.momentum == 0) return tg::explain(plain(eta), theta_.view(), gradient, terms);
  const MomentumStep step = with_momentum(eta);
  tg::explain(step, theta_.view(), velocity_.view(), gradient, terms);
  if (options_.nesterov)
    tell(terms, "look-ahead = gamma eta v", step, &MomentumStep::Parts::ahead, theta_.view(), velocity_.view(),
         gradient);
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
