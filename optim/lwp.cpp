#include "optim/lwp.h"

#include "optim/options.h"

namespace tg {

namespace {

// Of a velocity, how far it leads.
struct Distance {
  LookAhead ahead;
  TG_HD void operator()(float& v) const { v = ahead.distance(v); }
};

}  // namespace

SpecInfo Lwp::info() {
  const LwpOptions defaults;
  return {
      "lwp",
      "asynchronous SGD with one velocity; workers are sent where it leads by the time that they answer",
      {momentum_option(defaults.momentum),
       {"lag", "expected", "how late an answer will be: expected: live workers - 1; measured: as the worker's last"},
       weight_decay_option(defaults.weight_decay)}};
}

LwpOptions LwpOptions::from(const Spec& spec) {
  return {.momentum = tg::momentum(spec),
          .measured_lag = spec.choice("lag", {"expected", "measured"}) == "measured",
          .weight_decay = tg::weight_decay(spec)};
}

void LwpUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  const MomentumStep next = step(info.learning_rate);
  terms.term("g", gradient);
  tg::explain(next, theta_.view(), velocity_.view(), gradient, terms);
  Vector<float> theta(theta_.view()), v(velocity_.view());
  for_each(next, theta.span(), v.span(), gradient);
  const int64_t tau = options_.measured_lag ? info.lag : expected_lag(info);
  for_each(Distance{predict(info.learning_rate, tau)}, v.span());
  terms.term("prediction = tau eta v", v.view());
}

void LwpUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  state.write("velocity", velocity_.view());
  state.write("rate", View(&eta_, 1));
  std::vector<WorkerId> measured;
  for (const auto& [id, lag] : lags_) {
    measured.push_back(id);
    state.write(fmt::format("lag/{}", id), lag);
  }
  write_workers(state, "lag", measured);
}

void LwpUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  state.read("velocity", velocity_.span());
  state.read("rate", Span(&eta_, 1));
  lags_.clear();
  for (const WorkerId id : read_workers(state, "lag")) {
    lags_[id] = state.read(fmt::format("lag/{}", id));
    require(lags_[id] >= 0, "lwp: the state has a lag of {}; the snapshot is damaged", lags_[id]);
  }
}

}  // namespace tg
