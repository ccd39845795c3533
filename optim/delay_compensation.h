#pragma once
// Delay compensation (Zheng et al. 2017): what dc-asgd-c, dc-asgd-a, dc-ssgd and dana-dc do to a gradient that is late.
//
// A gradient taken at w_bak is applied at w. Taylor: g(w) = g(w_bak) + H (w - w_bak) + ..., H the Hessian of the loss.
// The paper puts lambda Diag(g g^T), that is lambda g (.) g coordinate by coordinate, in the place of H: near a minimum
// of cross-entropy the mean of g g^T over samples is about H. The price is one element-wise operation.
//
//   in the paper    here           meaning
//   w               w              parameters at the server
//   w_bak(m)        sent           what worker m was sent and took g at; w_0 at first (the engine keeps it)
//   g               g              worker m's minibatch gradient
//   lambda_0        lambda         strength of the compensation
//   MeanSquare      mean_square    running mean of g (.) g, 0 at first; one for all, or one per worker as an option
//   m               m              the share of MeanSquare that is kept (not worker m, and no momentum)
//   epsilon         epsilon        keeps the root from 0
//
//   MeanSquare <- m MeanSquare + (1 - m) g (.) g                adaptive
//   lambda_t   =  lambda_0 / sqrt(MeanSquare + epsilon)         adaptive; lambda_0 where lambda is constant
//   compensated:  g + lambda_t g (.) g (.) (w - w_bak(m))
//
// The raw gradient is compensated; weight decay is added later, by the step that takes the compensated gradient in.
//
// How sure: the order of the adaptive lambda, with MeanSquare taken in before it is used and epsilon under the root,
// was read in public code of the authors' institute, which has a MeanSquare per worker. The paper's formula, as it is
// recalled, has one for all: the default here.

#include <cmath>

#include "framework/core/spec.h"
#include "optim/vector.h"

namespace tg {

struct ConstantLambda {
  float lambda;
  struct Parts {
    float behind, compensation, compensated;
  };
  TG_HD Parts parts(float w, float sent, float g) const {
    const float behind = w - sent;
    const float compensation = lambda * g * g * behind;
    return {behind, compensation, g + compensation};
  }
  TG_HD float operator()(float w, float sent, float g) const { return parts(w, sent, g).compensated; }
};

struct AdaptiveLambda {
  float lambda, m, epsilon;
  struct Parts : ConstantLambda::Parts {
    float mean_square, lambda_t;
  };
  TG_HD Parts parts(float w, float sent, float g, float mean_square) const {
    mean_square = m * mean_square + (1 - m) * g * g;
    const float lambda_t = lambda / std::sqrt(mean_square + epsilon);
    return {ConstantLambda{lambda_t}.parts(w, sent, g), mean_square, lambda_t};
  }
  TG_HD float operator()(float w, float sent, float g, float& mean_square) const {
    const Parts after = parts(w, sent, g, mean_square);
    mean_square = after.mean_square;
    return after.compensated;
  }
};

struct CompensationOptions {
  float lambda = 2;
  bool adaptive = false;
  float m = 0.95f;
  float epsilon = 1e-7f;
  Per mean_square = Per::server;

  // Reads the options of any rule that compensates. Adaptive if the spec says adaptive=true, or belongs to a rule that
  // is always adaptive and so has no such option. Throws Error for an option of the adaptive lambda where it is
  // constant.
  static CompensationOptions from(const Spec& spec);
};
// The options that from() reads, for a rule's SpecInfo.
OptionInfo lambda_option(float default_value);
std::vector<OptionInfo> adaptive_options();                                         // m, epsilon, mean-square
std::vector<OptionInfo> compensation_options(const CompensationOptions& defaults);  // lambda, and adaptive or not

// The server's side: lambda, and with an adaptive one the mean squares, n numbers for all workers or for each.
class DelayCompensation {
 public:
  DelayCompensation(const CompensationOptions& options, int64_t n, Device device)
      : options_(options), mean_squares_(options.adaptive ? n : 0, device, options.mean_square) {}

  // Calls pass(formula, kept...): formula(w, sent, g, kept...) is the compensated gradient, coordinate by coordinate,
  // and `kept` this worker's mean square, which the formula updates, or nothing where lambda is constant. The rule puts
  // both into its own for_each, so that a step is still one pass over memory.
  template <class Pass>
  void with(WorkerId worker, const Pass& pass) {
    if (options_.adaptive)
      pass(adaptive(), mean_squares_.of(worker));
    else
      pass(constant());
  }
  // Tells the terms of the pass that is to come, changes nothing, and returns the compensated gradient.
  Vector<float> explain(WorkerId worker, View w, View sent, View gradient, Terms& terms) const;

  void join(WorkerId worker) { mean_squares_.join(worker); }
  void leave(WorkerId worker) { mean_squares_.leave(worker); }
  void save(StateWriter& state) const;
  void load(const StateReader& state);

 private:
  ConstantLambda constant() const { return {options_.lambda}; }
  AdaptiveLambda adaptive() const { return {options_.lambda, options_.m, options_.epsilon}; }

  CompensationOptions options_;
  WorkerVectors mean_squares_;  // empty ones where lambda is constant
};

}  // namespace tg
