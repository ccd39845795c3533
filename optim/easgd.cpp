#include "optim/easgd.h"

#include "optim/options.h"

namespace tg {

std::vector<OptionInfo> EasgdOptions::infos() {
  const EasgdOptions defaults;
  return {number_option("beta", defaults.beta, "so much of all workers' distance is taken at each exchange, 0 to 1"),
          period_option(defaults.period), weight_decay_option(defaults.weight_decay)};
}

EasgdOptions EasgdOptions::from(const Spec& spec) {
  return {.beta = number(spec, "beta", 0, 1), .period = tg::period(spec), .weight_decay = tg::weight_decay(spec)};
}

SpecInfo Easgd::info() {
  return {"easgd", "elastic averaging: workers train models of their own, tied to a center", EasgdOptions::infos()};
}

void EasgdUpdate::explain(WorkerId i, View message, const StepInfo& info, Terms& terms) const {
  using Parts = ElasticExchange::Parts;
  const View x_i = x_.of(i);
  const auto say = [&](const char* name, auto part) {
    tell(terms, name, exchange(info), part, x_i, theta_.view(), message);
  };
  terms.term("message = what the local steps took away from x_i", message);
  say("x_i at the worker", &Parts::x);
  say("e = alpha (x_i - center)", &Parts::e);
  say("x_i after = x_i - e", &Parts::after);
  say("step = -e", &Parts::step);
}

void EasgdUpdate::join(WorkerId i) {
  if (x_.has(i)) return;  // from a snapshot
  x_.join(i);
  for_each(Copy{}, x_.of(i), theta_.view());
}

void EasgdUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  x_.save(state, "x");
}

void EasgdUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  x_.load(state, "x");
}

}  // namespace tg
