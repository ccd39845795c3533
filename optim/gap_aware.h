#pragma once
// gap-aware: Gap-Aware (Barkai, Hakimi, Schuster 2020). Each coordinate of a gradient is divided by how far the server
// has moved from where the gradient was taken, counted in typical steps. A coordinate that has not moved counts in
// full, however late the gradient is.
//
//   in the paper    here           meaning
//   theta           theta, w       parameters at the server
//   theta^i         sent           what worker i was sent and took g at (the engine keeps it)
//   g               gradient, g    worker i's minibatch gradient
//   v^i             velocity, v    worker i's velocity; holds no learning rate
//   eta             eta            learning rate, as it was told with theta^i
//   eta_max         peak           the highest rate of the schedule
//   gamma           gamma          momentum
//   C               typical        a typical step: eta_max times the root of the mean square of velocities, + epsilon
//                   mean_square    running mean of v (.) v over all workers' steps, 0 at first
//                   keep           the share of it that is kept at a step
//                   correction     1 / (1 - keep^t) after t steps: makes up for the zero it began with, as in Adam
//                   weight_decay   added to the divided gradient at the server's theta
//
//   C     =  eta_max sqrt(mean_square / (1 - keep^t)) + epsilon      after t steps; epsilon at first
//   Gap   =  |theta - theta^i| / C + 1
//   v^i   <- gamma v^i + g / Gap + weight_decay theta
//   theta <- theta - eta v^i
//   mean_square <- keep mean_square + (1 - keep) v^i (.) v^i
//   sent:    theta
//
// How sure: that a gradient is divided linearly by the gap is in the paper's abstract; the formula of Gap is recalled.
// C, keep = 0.999 and epsilon = 1e-8 are those of a public version for pipelines, which also divides weight decay and
// multiplies C by a delay: both are its own, and left out here.
//
// With one worker theta is still theta^i, so Gap = 1: sgd with momentum, bit for bit.

#include <cmath>

#include "optim/sgd.h"

namespace tg {

struct GapAwareStep {
  MomentumStep step;
  float peak, keep, correction, epsilon;
  struct Parts : MomentumStep::Parts {
    float typical, gap, divided, mean_square;
  };
  TG_HD Parts parts(float w, float v, float mean_square, float sent, float g) const {
    const float typical = peak * std::sqrt(mean_square * correction) + epsilon;
    const float gap = std::abs(w - sent) / typical + 1;
    const MomentumStep::Parts after = step.parts(w, v, g / gap);
    return {after, typical, gap, g / gap, keep * mean_square + (1 - keep) * after.v * after.v};
  }
  TG_HD void operator()(float& w, float& v, float& mean_square, float sent, float g) const {
    const Parts after = parts(w, v, mean_square, sent, g);
    v = after.v;
    mean_square = after.mean_square;
    w -= after.step;
  }
};

struct GapAwareOptions {
  float momentum = 0.9f;
  float keep = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0;

  static GapAwareOptions from(const Spec& spec);
};

class GapAwareUpdate : public ThetaUpdate {
 public:
  GapAwareUpdate(View initial, const GapAwareOptions& options)
      : ThetaUpdate(initial), options_(options), velocities_(size(), device()), mean_square_(size(), device()) {}

  void apply(WorkerId i, View gradient, const StepInfo& info) override {
    for_each(step(info), theta_.span(), velocities_.of(i), mean_square_.span(), info.sent, gradient);
    ++steps_;
  }
  void explain(WorkerId i, View gradient, const StepInfo& info, Terms& terms) const override;

  void join(WorkerId i) override { velocities_.join(i); }
  void leave(WorkerId i) override { velocities_.leave(i); }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  GapAwareStep step(const StepInfo& info) const {
    const double kept = std::pow(static_cast<double>(options_.keep), static_cast<double>(steps_));
    return {{info.learning_rate, options_.momentum, options_.weight_decay},
            info.peak_learning_rate,
            options_.keep,
            steps_ == 0 ? 0 : static_cast<float>(1 / (1 - kept)),
            options_.epsilon};
  }

  GapAwareOptions options_;
  WorkerVectors velocities_;
  Vector<float> mean_square_;
  int64_t steps_ = 0;  // t
};

class GapAware : public ServerRule<GapAwareUpdate, GapAwareOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  bool needs_sent() const override { return true; }
};

}  // namespace tg
