#include "optim/eamsgd.h"

#include "optim/options.h"

namespace tg {

SpecInfo Eamsgd::info() {
  std::vector<OptionInfo> options = EasgdOptions::infos();
  options.insert(options.begin(), momentum_option(EamsgdOptions().momentum));
  return {"eamsgd", "elastic averaging with Nesterov momentum in the workers' steps", options};
}

EamsgdOptions EamsgdOptions::from(const Spec& spec) { return {EasgdOptions::from(spec), tg::momentum(spec)}; }

void EamsgdWorker::explain(View received, const StepInfo& info, Oracle& oracle, Terms& terms) const {
  Vector<float> at(received.size, received.device), gradient(received.size, received.device);
  for_each(LookAhead{eta_, gamma_}, at.span(), received, velocity_.view());
  oracle.gradient(at.view(), gradient.span());
  terms.term("x - gamma (eta_old v)", at.view());
  terms.term("g", gradient.view());
  tg::explain(MomentumStep{info.learning_rate, gamma_, weight_decay_}, received, velocity_.view(), gradient.view(),
              terms);
}

void EamsgdWorker::save(StateWriter& state) const {
  state.write("velocity", velocity_.view());
  state.write("before", before_.view());
  state.write("rate", View(&eta_, 1));
  state.write("rate_before", View(&eta_before_, 1));
}

void EamsgdWorker::load(const StateReader& state) {
  state.read("velocity", velocity_.span());
  state.read("before", before_.span());
  state.read("rate", Span(&eta_, 1));
  state.read("rate_before", Span(&eta_before_, 1));
}

}  // namespace tg
