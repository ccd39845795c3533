#include "optim/dc_asgd.h"

#include "optim/options.h"

namespace tg {

namespace {

OptionInfo lambda_option(float default_value) {
  return number_option("lambda", default_value, "strength of the delay compensation, 0 to 1000; 0 is asgd");
}

float lambda(const Spec& spec) { return number(spec, "lambda", 0, 1000); }

}  // namespace

SpecInfo DcAsgdC::info() {
  const DcAsgdCOptions defaults;
  return {"dc-asgd-c",
          "asynchronous SGD with delay compensation, constant lambda",
          {lambda_option(defaults.lambda), weight_decay_option(defaults.weight_decay)}};
}

DcAsgdCOptions DcAsgdCOptions::from(const Spec& spec) {
  return {.lambda = tg::lambda(spec), .weight_decay = tg::weight_decay(spec)};
}

SpecInfo DcAsgdA::info() {
  const DcAsgdAOptions defaults;
  return {"dc-asgd-a",
          "asynchronous SGD with delay compensation, lambda adapted per coordinate",
          {lambda_option(defaults.lambda),
           number_option("m", defaults.m, "share of the mean square that is kept at each step, 0 to 0.9999"),
           number_option("epsilon", defaults.epsilon, "added to the mean square under the root, 1e-30 to 1"),
           {"mean-square", defaults.mean_square_per_worker ? "worker" : "server",
            "one mean square for the server, or one per worker"},
           weight_decay_option(defaults.weight_decay)}};
}

DcAsgdAOptions DcAsgdAOptions::from(const Spec& spec) {
  return {.lambda = tg::lambda(spec),
          .m = number(spec, "m", 0, 0.9999),
          .epsilon = number(spec, "epsilon", 1e-30, 1),
          .mean_square_per_worker = spec.choice("mean-square", {"server", "worker"}) == "worker",
          .weight_decay = tg::weight_decay(spec)};
}

void DcAsgdCUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  using Parts = DcAsgdConstant::Parts;
  const auto say = [&](const char* name, auto part) {
    tell(terms, name, formula(info), part, theta_.view(), info.sent, gradient);
  };
  terms.term("g", gradient);
  say("w - w_bak", &Parts::behind);
  say("compensation = lambda g g (w - w_bak)", &Parts::compensation);
  say("weight_decay w", &Parts::decay);
  say("step = eta (g + lambda g g (w - w_bak) + weight_decay w)", &Parts::step);
}

void DcAsgdAUpdate::explain(WorkerId worker, View gradient, const StepInfo& info, Terms& terms) const {
  using Parts = DcAsgdAdaptive::Parts;
  const auto say = [&](const char* name, auto part) {
    tell(terms, name, formula(info), part, theta_.view(), mean_squares_.of(slot(worker)), info.sent, gradient);
  };
  terms.term("g", gradient);
  say("w - w_bak", &Parts::behind);
  say("MeanSquare", &Parts::mean_square);
  say("lambda_t = lambda_0 / sqrt(MeanSquare + epsilon)", &Parts::lambda_t);
  say("compensation = lambda_t g g (w - w_bak)", &Parts::compensation);
  say("weight_decay w", &Parts::decay);
  say("step = eta (g + lambda_t g g (w - w_bak) + weight_decay w)", &Parts::step);
}

void DcAsgdAUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  mean_squares_.save(state, "mean_square");
}

void DcAsgdAUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  mean_squares_.load(state, "mean_square");
}

}  // namespace tg
