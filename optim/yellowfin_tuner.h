#pragma once
// How YellowFin (Zhang, Mitliagkas, Re 2017) chooses momentum and learning rate from three numbers that gradients tell.
// docs/yellowfin.md derives the formulas.
//
//   in the paper    here             meaning
//   mu, alpha       momentum, rate   what is tuned
//   h_t             h                curvature as a gradient shows it: its squared norm
//   h_max, h_min    h_max, h_min     the largest and smallest of the last 20 h_t, averaged over the steps
//   C               variance         the gradient's variance, summed over the coordinates: mean of |g|^2 less
//                                    |mean of g|^2
//   D               distance         estimate of the distance to the optimum: average of |g| / h, both averaged
//   beta            beta             the share of each average that is kept at a step
//
//   mu, alpha = argmin of mu D^2 + alpha^2 C
//               such that  sqrt(mu) >= (sqrt(h_max / h_min) - 1) / (sqrt(h_max / h_min) + 1)
//                          alpha    =  (1 - sqrt(mu))^2 / h_min

#include <deque>

#include "optim/state.h"

namespace tg {

struct SingleStep {
  double momentum, rate;
};

// The argmin above. h_max >= h_min > 0, variance and distance >= 0, all finite.
SingleStep single_step(double h_min, double h_max, double variance, double distance);

class YellowFinTuner {
 public:
  explicit YellowFinTuner(double beta) : beta_(beta) {}

  // Where the rate's average begins; the momentum's begins at 0. Before the first observe().
  void start(double rate) { rate_ = rate; }
  int64_t steps() const { return t_; }
  // Takes in one gradient's squared norm, above 0, and that of the running mean of gradients, this one included; the
  // mean began at 0 and is not divided by its weights.
  void observe(double squared_norm, double squared_norm_of_mean);
  double momentum() const { return momentum_; }
  double rate() const { return rate_; }
  // What the weights of an average that began at 0 add up to after the next step: 1 - beta^t.
  double next_weight() const;

  void save(StateWriter& state) const;
  // Throws Error for what no tuner can be.
  void load(const StateReader& state);

 private:
  void average(double& of, double value) const { of = beta_ * of + (1 - beta_) * value; }

  double beta_;
  int64_t t_ = 0;
  std::deque<double> window_;  // the last h
  // Running averages that began at 0: to be divided by the sum of their weights, next_weight() before the step.
  double h_min_ = 0, h_max_ = 0, norm_ = 0, h_ = 0, distance_ = 0;
  double momentum_ = 0, rate_ = 0;
};

}  // namespace tg
