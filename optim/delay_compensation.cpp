#include "optim/delay_compensation.h"

#include "optim/options.h"

namespace tg {

OptionInfo lambda_option(float default_value) {
  return number_option("lambda", default_value, "strength of the delay compensation, 0 to 1000; 0: none");
}

std::vector<OptionInfo> adaptive_options() {
  const CompensationOptions defaults;
  return {number_option("m", defaults.m, "share of the mean square that is kept at each step, 0 to 0.9999"),
          number_option("epsilon", defaults.epsilon, "added to the mean square under the root, 1e-30 to 1"),
          {"mean-square", "server", "one mean square for the server, or one per worker"}};
}

std::vector<OptionInfo> compensation_options(const CompensationOptions& defaults) {
  std::vector<OptionInfo> options = adaptive_options();
  options.insert(options.begin(),
                 {lambda_option(defaults.lambda),
                  flag_option("adaptive", defaults.adaptive, "true: lambda is adapted per coordinate")});
  return options;
}

CompensationOptions CompensationOptions::from(const Spec& spec) {
  CompensationOptions options{.lambda = number(spec, "lambda", 0, 1000)};
  options.adaptive = spec.has("adaptive") ? spec.flag("adaptive") : spec.has("m");
  if (!options.adaptive) {
    for (const char* option : {"m", "epsilon", "mean-square"})
      require(!spec.has(option) || !spec.given(option),
              "rule '{}': {} belongs to the adaptive lambda; add adaptive=true, or leave it out", spec.name(), option);
    return options;
  }
  options.m = number(spec, "m", 0, 0.9999);
  options.epsilon = number(spec, "epsilon", 1e-30, 1);
  options.mean_square = per(spec, "mean-square");
  return options;
}

Vector<float> DelayCompensation::explain(WorkerId worker, View w, View sent, View gradient, Terms& terms) const {
  Vector<float> compensated(w.size, w.device);
  // Of either formula, with what it keeps.
  const auto terms_of = [&](const auto& formula, const char* compensation, auto... kept) {
    using Formula = std::decay_t<decltype(formula)>;
    using Parts = typename Formula::Parts;
    terms.term("g", gradient);
    tell(terms, "w - w_bak", formula, &Parts::behind, w, sent, gradient, kept...);
    if constexpr (std::is_same_v<Formula, AdaptiveLambda>) {
      tell(terms, "MeanSquare", formula, &Parts::mean_square, w, sent, gradient, kept...);
      tell(terms, "lambda_t = lambda_0 / sqrt(MeanSquare + epsilon)", formula, &Parts::lambda_t, w, sent, gradient,
           kept...);
    }
    tell(terms, compensation, formula, &Parts::compensation, w, sent, gradient, kept...);
    const auto part = &Parts::compensated;
    for_each(PartOf<Formula, decltype(part)>{formula, part}, compensated.span(), w, sent, gradient, kept...);
  };
  if (options_.adaptive)
    terms_of(adaptive(), "compensation = lambda_t g g (w - w_bak)", mean_squares_.of(worker));
  else
    terms_of(constant(), "compensation = lambda g g (w - w_bak)");
  return compensated;
}

void DelayCompensation::save(StateWriter& state) const {
  if (options_.adaptive) mean_squares_.save(state, "mean_square");
}

void DelayCompensation::load(const StateReader& state) {
  if (options_.adaptive) mean_squares_.load(state, "mean_square");
}

}  // namespace tg
