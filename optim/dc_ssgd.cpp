#include "optim/dc_ssgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo DcSsgd::info() {
  const DcSsgdOptions defaults;
  std::vector<OptionInfo> options = compensation_options(defaults.compensation);
  options.push_back(backup_option());
  options.push_back(weight_decay_option(defaults.weight_decay));
  return {"dc-ssgd", "rounds; each gradient of one is compensated for those before it", options};
}

DcSsgdOptions DcSsgdOptions::from(const Spec& spec) {
  return {.compensation = CompensationOptions::from(spec),
          .backup = tg::backup(spec),
          .weight_decay = tg::weight_decay(spec)};
}

namespace {

struct Plus {
  TG_HD void operator()(float& sum, float step) const { sum += step; }
};

}  // namespace

// As if the round ended with this message.
void DcSsgdUpdate::explain(WorkerId m, View gradient, const StepInfo& info, Terms& terms) const {
  Vector<float> w(theta_.view()), sum(sum_.view()), one(size(), device());
  for_each(Subtract{}, w.span(), sum_.view());
  const Vector<float> compensated = compensation_.explain(m, w.view(), info.sent, gradient, terms);
  tell(terms, "weight_decay w", step(info), &PlainStep::Parts::decay, w.view(), compensated.view());
  const auto part = &PlainStep::Parts::step;
  for_each(PartOf<PlainStep, decltype(part)>{step(info), part}, one.span(), w.view(), compensated.view());
  terms.term("eta (g + lambda_t g g (w - w_bak) + weight_decay w)", one.view());
  for_each(Plus{}, sum.span(), one.view());
  terms.term("step = sum of these over the round so far", sum.view());
}

void DcSsgdUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  compensation_.save(state);
  state.write("sum", sum_.view());
  round_.save(state);
}

void DcSsgdUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  compensation_.load(state);
  state.read("sum", sum_.span());
  round_.load(state);
}

}  // namespace tg
