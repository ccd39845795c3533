#include "optim/ssgd.h"

#include <limits>

#include "optim/options.h"

namespace tg {

SpecInfo Ssgd::info() {
  const SsgdOptions defaults;
  return {
      "ssgd",
      "synchronous SGD: a barrier, then one step by the mean of all gradients",
      {momentum_option(defaults.sgd.momentum),
       nesterov_option(defaults.sgd.nesterov),
       weight_decay_option(defaults.sgd.weight_decay),
       {"backup", fmt::format("{}", defaults.backup), "so many workers of a round are not waited for, 0 to 1000000"},
       flag_option("scale", defaults.linear_scaling,
                   "true: the rate is multiplied by the number of gradients in the mean")}};
}

SsgdOptions SsgdOptions::from(const Spec& spec) {
  return {.sgd = SgdOptions::from(spec),
          .backup = static_cast<int>(spec.integer("backup", 0, 1'000'000)),
          .linear_scaling = spec.flag("scale")};
}

// As if the round ended with this message.
void SsgdUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  const int64_t n = taken_ + 1;
  Vector<double> sum(sum_.view());
  Vector<float> mean(gradient.size, gradient.device);
  for_each(AddTo{}, sum.span(), gradient);
  for_each(TakeMean{static_cast<double>(n)}, mean.span(), sum.span());
  terms.term("g_i", gradient);
  terms.term(fmt::format("g = (1/{0}) sum of the {0} g_i of this round so far", n), mean.view());
  sgd_.explain_step(mean.view(), eta(rates_ + static_cast<double>(info.learning_rate), n), terms);
}

void SsgdUpdate::save(StateWriter& state) const {
  sgd_.save(state);
  state.write("sum", sum_.view());
  state.write("rates", BasicSpan<const double>(&rates_, 1));
  state.write("taken", taken_);
  int64_t i = 0;
  for (const WorkerId worker : in_round_) state.write(fmt::format("in_round/{}", i++), int64_t{worker});
  state.write("in_round/count", i);
}

void SsgdUpdate::load(const StateReader& state) {
  sgd_.load(state);
  state.read("sum", sum_.span());
  state.read("rates", BasicSpan<double>(&rates_, 1));
  taken_ = state.read("taken");
  in_round_.clear();
  const int64_t count = state.read("in_round/count");
  for (int64_t i = 0; i < count; ++i) {
    const int64_t worker = state.read(fmt::format("in_round/{}", i));
    require(worker >= 0 && worker <= std::numeric_limits<WorkerId>::max(), "ssgd: the state names worker {}", worker);
    in_round_.insert(static_cast<WorkerId>(worker));
  }
  require(taken_ >= static_cast<int64_t>(in_round_.size()),
          "ssgd: the state has {} messages of {} workers in its round; the snapshot is damaged", taken_,
          in_round_.size());
}

}  // namespace tg
