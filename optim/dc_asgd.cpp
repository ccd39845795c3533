#include "optim/dc_asgd.h"

#include "optim/options.h"

namespace tg {

namespace {

std::vector<OptionInfo> with_step_options(std::vector<OptionInfo> options) {
  const DcAsgdOptions defaults;
  options.push_back(momentum_option(defaults.momentum));
  options.push_back({"velocity", "server", "one velocity for the server, or one per worker; with momentum"});
  options.push_back(weight_decay_option(defaults.weight_decay));
  return options;
}

}  // namespace

SpecInfo DcAsgdC::info() {
  return {"dc-asgd-c", "asynchronous SGD with delay compensation, constant lambda",
          with_step_options({lambda_option(0.04f)})};
}

SpecInfo DcAsgdA::info() {
  std::vector<OptionInfo> options = adaptive_options();
  options.insert(options.begin(), lambda_option(2));
  return {"dc-asgd-a", "asynchronous SGD with delay compensation, lambda adapted per coordinate",
          with_step_options(options)};
}

DcAsgdOptions DcAsgdOptions::from(const Spec& spec) {
  const DcAsgdOptions options{.compensation = CompensationOptions::from(spec),
                              .momentum = tg::momentum(spec),
                              .velocity = per(spec, "velocity"),
                              .weight_decay = tg::weight_decay(spec)};
  require(options.momentum != 0 || options.velocity == Per::server,
          "rule '{}': velocity=worker, but without momentum there is no velocity; add momentum=0.9, or leave it out",
          spec.name());
  return options;
}

void DcAsgdUpdate::explain(WorkerId m, View gradient, const StepInfo& info, Terms& terms) const {
  const Vector<float> compensated = compensation_.explain(m, theta_.view(), info.sent, gradient, terms);
  const char* lambda = options_.compensation.adaptive ? "lambda_t" : "lambda";
  const std::string sum = fmt::format("g + {} g g (w - w_bak) + weight_decay w", lambda);
  if (options_.momentum == 0) {
    const auto say = [&](const std::string& name, auto part) {
      tell(terms, name, plain(info), part, theta_.view(), compensated.view());
    };
    say("weight_decay w", &PlainStep::Parts::decay);
    say(fmt::format("step = eta ({})", sum), &PlainStep::Parts::step);
    return;
  }
  const View velocity = velocities_.of(m);
  const auto say = [&](const std::string& name, auto part) {
    tell(terms, name, with_momentum(info), part, theta_.view(), velocity, compensated.view());
  };
  say("weight_decay w", &MomentumStep::Parts::decay);
  terms.term("v before", velocity);
  say("v after = gamma v + " + sum, &MomentumStep::Parts::v);
  say("step = eta v", &MomentumStep::Parts::step);
}

void DcAsgdUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  compensation_.save(state);
  if (options_.momentum != 0) velocities_.save(state, "velocity");
}

void DcAsgdUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  compensation_.load(state);
  if (options_.momentum != 0) velocities_.load(state, "velocity");
}

}  // namespace tg
