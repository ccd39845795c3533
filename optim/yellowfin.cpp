#include "optim/yellowfin.h"

#include <algorithm>
#include <cmath>

#include "framework/core/reduce.h"
#include "optim/options.h"

namespace tg {

namespace {

constexpr double kFeedback = 0.01;  // the paper's gamma, a rate that is not a momentum

struct SquareOf {
  TG_HD double operator()(float g) const { return static_cast<double>(g) * static_cast<double>(g); }
};

struct TimesOf {
  float times;
  TG_HD void operator()(float& out, float of) const { out = times * of; }
};

}  // namespace

SpecInfo YellowFin::info() {
  const YellowFinOptions defaults;
  return {
      "yellowfin",
      "momentum SGD that tunes momentum and rate; the schedule scales the tuned rate",
      {number_option("beta", defaults.beta, "share of the tuner's averages that is kept at each step, 0 to 0.99999"),
       flag_option("closed-loop", defaults.closed_loop,
                   "true: the momentum is lowered by what asynchrony is measured to add"),
       weight_decay_option(defaults.weight_decay)}};
}

YellowFinOptions YellowFinOptions::from(const Spec& spec) {
  return {.beta = number(spec, "beta", 0, 0.99999),
          .closed_loop = spec.flag("closed-loop"),
          .weight_decay = tg::weight_decay(spec)};
}

YellowFinUpdate::YellowFinUpdate(View initial, const YellowFinOptions& options)
    : ThetaUpdate(initial),
      options_(options),
      tuner_(static_cast<double>(options.beta)),
      velocity_(size(), device()),
      mean_(size(), device()),
      before_(size(), device()),
      after_(size(), device()) {}

void YellowFinUpdate::observe(YellowFinTuner& tuner, Span mean, View gradient) const {
  const double squared_norm = reduce_sum(SquareOf{}, gradient);
  if (!(squared_norm > 0)) return;  // a gradient of zero tells nothing of the curvature
  for_each(YellowFinMean{options_.beta}, mean, gradient);
  tuner.observe(squared_norm, reduce_sum(SquareOf{}, View(mean)));
}

MomentumStep YellowFinUpdate::step(const YellowFinTuner& tuner, const StepInfo& info) const {
  const float factor = info.peak_learning_rate > 0 ? info.learning_rate / info.peak_learning_rate : 0;
  return {factor * static_cast<float>(tuner.rate()), static_cast<float>(options_.closed_loop ? mu_ : tuner.momentum()),
          options_.weight_decay};
}

// The step that has just been done is the first since these workers were sent theta.
void YellowFinUpdate::close_loop(WorkerId i, View gradient, const StepInfo& info) {
  for (const WorkerId worker : fresh_) for_each(Copy{}, after_.of(worker), velocity_.view());
  fresh_.clear();
  Vector<float> ratio(size(), device());
  for_each(YellowFinRatio{options_.weight_decay}, ratio.span(), View(before_.of(i)), View(after_.of(i)), gradient,
           info.sent);
  const Span all = ratio.span();
  float* const end = std::remove_if(all.begin(), all.end(), [](float r) { return !std::isfinite(r); });
  if (end == all.begin()) return;  // nothing has moved yet
  float* const middle = all.begin() + (end - all.begin()) / 2;
  std::nth_element(all.begin(), middle, end);
  measured_ = static_cast<double>(*middle);
  mu_ += kFeedback * (tuner_.momentum() - measured_);
}

void YellowFinUpdate::explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const {
  YellowFinTuner tuner = tuner_;
  if (tuner.steps() == 0) tuner.start(static_cast<double>(info.peak_learning_rate));
  Vector<float> mean(mean_.view());
  observe(tuner, mean.span(), gradient);
  const MomentumStep step = this->step(tuner, info);
  terms.term("g", gradient);
  terms.term("running mean of g", mean.view());
  const auto say = [&](const std::string& name, float times, View of) {
    Vector<float> product(size(), device());
    for_each(TimesOf{times}, product.span(), of);
    terms.term(name, product.view());
  };
  say(fmt::format("mu v = {:.6g} v", step.gamma), step.gamma, velocity_.view());
  say(fmt::format("rate g = {:.6g} g", step.eta), step.eta, gradient);
  tg::explain(step, theta_.view(), velocity_.view(), gradient, terms);
}

void YellowFinUpdate::reply(WorkerId i, Span out, const StepInfo& info) {
  if (options_.closed_loop) {
    for_each(Copy{}, before_.of(i), velocity_.view());
    fresh_.insert(i);
  }
  ThetaUpdate::reply(i, out, info);
}

void YellowFinUpdate::join(WorkerId i) {
  if (!options_.closed_loop) return;
  before_.join(i);
  after_.join(i);
}

void YellowFinUpdate::leave(WorkerId i) {
  before_.leave(i);
  after_.leave(i);
  fresh_.erase(i);
}

void YellowFinUpdate::save(StateWriter& state) const {
  ThetaUpdate::save(state);
  tuner_.save(state);
  state.write("velocity", velocity_.view());
  state.write("mean", mean_.view());
  if (!options_.closed_loop) return;
  const double loop[] = {mu_, measured_};
  state.write("loop", BasicSpan<const double>(loop, std::size(loop)));
  before_.save(state, "before");
  after_.save(state, "after");
  write_workers(state, "fresh", {fresh_.begin(), fresh_.end()});
}

void YellowFinUpdate::load(const StateReader& state) {
  ThetaUpdate::load(state);
  tuner_.load(state);
  state.read("velocity", velocity_.span());
  state.read("mean", mean_.span());
  if (!options_.closed_loop) return;
  double loop[2];
  state.read("loop", BasicSpan<double>(loop, std::size(loop)));
  mu_ = loop[0], measured_ = loop[1];
  before_.load(state, "before");
  after_.load(state, "after");
  const std::vector<WorkerId> fresh = read_workers(state, "fresh");
  fresh_ = {fresh.begin(), fresh.end()};
}

}  // namespace tg
