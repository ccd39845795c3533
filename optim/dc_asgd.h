#pragma once
// dc-asgd-c and dc-asgd-a: DC-ASGD with constant and with adaptive lambda (Zheng et al. 2017).
//
// A gradient taken at w_bak arrives at w. Its Taylor expansion, g(w) = g(w_bak) + H (w - w_bak) + ..., with H guessed
// as lambda Diag(g g^T), makes up for the delay at the price of one element-wise operation.
//
//   in the paper    here           meaning
//   w               w              parameters at the server
//   w_bak(m)        sent           what worker m was sent and took g at; w_0 at first (the engine keeps it)
//   g               g              worker m's minibatch gradient
//   lambda_0        lambda         strength of the compensation
//   MeanSquare      mean_square    running mean of g (.) g, 0 at first; one for all, or one per worker as an option
//   m               m              its decay (not a worker here, and no momentum)
//   epsilon         epsilon        keeps the root from 0
//   eta             eta            learning rate, as it was told with w_bak
//                   weight_decay   added at w, after the compensation of the raw gradient
//
//   MeanSquare <- m MeanSquare + (1 - m) g (.) g                    dc-asgd-a
//   lambda_t   =  lambda_0 / sqrt(MeanSquare + epsilon)             dc-asgd-a; lambda_0 in dc-asgd-c
//   w          <- w - eta (g + lambda_t g (.) g (.) (w - w_bak(m)) + weight_decay w)
//   sent:         w, of which w_bak(m) is the copy
//
// lambda = 0 is asgd and one worker is sgd, both bit for bit.

#include <cmath>

#include "optim/server_rule.h"

namespace tg {

struct DcAsgdConstant {
  float eta, lambda, weight_decay;
  struct Parts {
    float behind, compensation, decay, step;
  };
  TG_HD Parts parts(float w, float sent, float g) const {
    const float behind = w - sent;
    const float compensation = lambda * g * g * behind;
    const float decay = weight_decay * w;
    return {behind, compensation, decay, eta * (g + compensation + decay)};
  }
  TG_HD void operator()(float& w, float sent, float g) const { w -= parts(w, sent, g).step; }
};

struct DcAsgdAdaptive {
  float eta, lambda, m, epsilon, weight_decay;
  struct Parts : DcAsgdConstant::Parts {
    float mean_square, lambda_t;
  };
  TG_HD Parts parts(float w, float mean_square, float sent, float g) const {
    mean_square = m * mean_square + (1 - m) * g * g;
    const float lambda_t = lambda / std::sqrt(mean_square + epsilon);
    return {DcAsgdConstant{eta, lambda_t, weight_decay}.parts(w, sent, g), mean_square, lambda_t};
  }
  TG_HD void operator()(float& w, float& mean_square, float sent, float g) const {
    const Parts after = parts(w, mean_square, sent, g);
    mean_square = after.mean_square;
    w -= after.step;
  }
};

struct DcAsgdCOptions {
  float lambda = 0.04f;
  float weight_decay = 0;

  static DcAsgdCOptions from(const Spec& spec);
};

class DcAsgdCUpdate : public ThetaUpdate {
 public:
  DcAsgdCUpdate(View initial, const DcAsgdCOptions& options) : ThetaUpdate(initial), options_(options) {}

  void apply(WorkerId, View gradient, const StepInfo& info) override {
    for_each(formula(info), theta_.span(), info.sent, gradient);
  }
  void explain(WorkerId, View gradient, const StepInfo& info, Terms& terms) const override;

 private:
  DcAsgdConstant formula(const StepInfo& info) const {
    return {info.learning_rate, options_.lambda, options_.weight_decay};
  }

  DcAsgdCOptions options_;
};

struct DcAsgdAOptions {
  float lambda = 2;
  float m = 0.95f;
  float epsilon = 1e-7f;
  bool mean_square_per_worker = false;
  float weight_decay = 0;

  static DcAsgdAOptions from(const Spec& spec);
};

class DcAsgdAUpdate : public ThetaUpdate {
 public:
  DcAsgdAUpdate(View initial, const DcAsgdAOptions& options)
      : ThetaUpdate(initial), options_(options), mean_squares_(initial.size, initial.device) {
    if (!options_.mean_square_per_worker) mean_squares_.join(kServer);
  }

  void apply(WorkerId worker, View gradient, const StepInfo& info) override {
    for_each(formula(info), theta_.span(), mean_squares_.of(slot(worker)), info.sent, gradient);
  }
  void explain(WorkerId worker, View gradient, const StepInfo& info, Terms& terms) const override;

  void join(WorkerId worker) override {
    if (options_.mean_square_per_worker) mean_squares_.join(worker);
  }
  void leave(WorkerId worker) override {
    if (options_.mean_square_per_worker) mean_squares_.leave(worker);
  }
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  static constexpr WorkerId kServer = 0;  // the one slot, where the mean square is not per worker
  WorkerId slot(WorkerId worker) const { return options_.mean_square_per_worker ? worker : kServer; }
  DcAsgdAdaptive formula(const StepInfo& info) const {
    return {info.learning_rate, options_.lambda, options_.m, options_.epsilon, options_.weight_decay};
  }

  DcAsgdAOptions options_;
  WorkerVectors mean_squares_;
};

class DcAsgdC : public ServerRule<DcAsgdCUpdate, DcAsgdCOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  bool needs_sent() const override { return true; }
};

class DcAsgdA : public ServerRule<DcAsgdAUpdate, DcAsgdAOptions> {
 public:
  using ServerRule::ServerRule;
  static SpecInfo info();
  bool needs_sent() const override { return true; }
};

}  // namespace tg
