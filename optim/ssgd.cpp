#include "optim/ssgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo Ssgd::info() {
  const SsgdOptions defaults;
  return {"ssgd",
          "synchronous SGD: a barrier, then one step by the mean of all gradients",
          {momentum_option(defaults.sgd.momentum), nesterov_option(defaults.sgd.nesterov),
           weight_decay_option(defaults.sgd.weight_decay), backup_option(),
           flag_option("scale", defaults.linear_scaling,
                       "true: the rate is multiplied by the number of gradients in the mean")}};
}

SsgdOptions SsgdOptions::from(const Spec& spec) {
  return {.sgd = SgdOptions::from(spec), .backup = tg::backup(spec), .linear_scaling = spec.flag("scale")};
}

// As if the round ended with this message.
void SsgdUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  const int64_t n = round_.taken() + 1;
  const Vector<float> mean = round_.mean_with(gradient);
  terms.term("g_i", gradient);
  terms.term(fmt::format("g = (1/{0}) sum of the {0} g_i of this round so far", n), mean.view());
  sgd_.explain_step(mean.view(), eta(rates_ + static_cast<double>(info.learning_rate), n), terms);
}

void SsgdUpdate::save(StateWriter& state) const {
  sgd_.save(state);
  round_.save(state);
  state.write("rates", BasicSpan<const double>(&rates_, 1));
}

void SsgdUpdate::load(const StateReader& state) {
  sgd_.load(state);
  round_.load(state);
  state.read("rates", BasicSpan<double>(&rates_, 1));
}

}  // namespace tg
