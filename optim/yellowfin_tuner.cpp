#include "optim/yellowfin_tuner.h"

#include <algorithm>
#include <cmath>

#include "framework/core/error.h"

namespace tg {

namespace {

constexpr size_t kWindow = 20;

// The root in [0, 1] of y^3 + p y - p = 0, p >= 0: Cardano's a - b with a^3 - b^3 = p and a b = p / 3, written without
// the difference.
double cubic_root(double p) {
  constexpr double kLargest = 1e60;  // beyond it y is 1 in double, and p^3 no number
  if (p == 0) return 0;
  if (p > kLargest) return 1;
  const double a = std::cbrt(p / 2 + std::sqrt(p * p / 4 + p * p * p / 27)), b = p / (3 * a);
  return p / (a * a + p / 3 + b * b);
}

}  // namespace

// With x = sqrt(mu): x^2 D^2 + (1 - x)^4 C / h_min^2 is convex in x on [0, 1], so its minimum within the bound is the
// bound or the free minimum, whichever is larger. That has (1 - x)^3 = p x.
SingleStep single_step(double h_min, double h_max, double variance, double distance) {
  const double dh = distance * h_min, kappa = std::sqrt(h_max / h_min);
  const double free = variance == 0 ? 0 : 1 - cubic_root(dh * dh / (2 * variance));
  const double x = std::max(free, (kappa - 1) / (kappa + 1));
  return {x * x, (1 - x) * (1 - x) / h_min};
}

double YellowFinTuner::next_weight() const { return 1 - std::pow(beta_, static_cast<double>(t_ + 1)); }

void YellowFinTuner::observe(double h, double squared_norm_of_mean) {
  const double w = next_weight();
  ++t_;
  window_.push_back(h);
  if (window_.size() > kWindow) window_.pop_front();
  average(h_min_, *std::min_element(window_.begin(), window_.end()));
  average(h_max_, *std::max_element(window_.begin(), window_.end()));
  average(norm_, std::sqrt(h));
  average(h_, h);
  average(distance_, norm_ / h_);
  const double variance = std::max(0.0, h_ / w - squared_norm_of_mean / (w * w));  // rounding may bring it below 0
  const SingleStep tuned = single_step(h_min_ / w, h_max_ / w, variance, distance_ / w);
  average(momentum_, tuned.momentum);
  average(rate_, tuned.rate);
}

void YellowFinTuner::save(StateWriter& state) const {
  const std::vector<double> window(window_.begin(), window_.end());
  const double averages[] = {h_min_, h_max_, norm_, h_, distance_, momentum_, rate_};
  state.write("tuner/steps", t_);
  state.write("tuner/window/count", static_cast<int64_t>(window.size()));
  state.write("tuner/window", BasicSpan<const double>(window.data(), static_cast<int64_t>(window.size())));
  state.write("tuner/averages", BasicSpan<const double>(averages, std::size(averages)));
}

void YellowFinTuner::load(const StateReader& state) {
  t_ = state.read("tuner/steps");
  const int64_t count = state.read("tuner/window/count");
  require(t_ >= 0 && count == std::min<int64_t>(t_, kWindow),
          "yellowfin: the state has {} gradients in its window after {} steps; the snapshot is damaged", count, t_);
  std::vector<double> window(static_cast<size_t>(count));
  double averages[7];
  state.read("tuner/window", BasicSpan<double>(window.data(), count));
  state.read("tuner/averages", BasicSpan<double>(averages, std::size(averages)));
  window_.assign(window.begin(), window.end());
  h_min_ = averages[0], h_max_ = averages[1], norm_ = averages[2], h_ = averages[3], distance_ = averages[4];
  momentum_ = averages[5], rate_ = averages[6];
}

}  // namespace tg
