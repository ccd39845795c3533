#pragma once
// The equations of the rules whose work is the server's, once more, for a scalar theta, in double, as plainly as can
// be.

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/optim/equations.h"

namespace tg::test {

inline constexpr int kWorkers = kEquationWorkers;

// A gradient that the server takes in.
struct Arrival {
  int worker;
  double g, eta, peak_eta, sent;
  int64_t lag;
};

using NamedValues = std::map<std::string, double>;

struct ServerEquations : Equations {
  // A velocity adds up some ten gradients and their roundings, a mean square doubles them.
  ServerEquations() {
    state_before_each = true;
    state_tolerance = 5 * kEquationTolerance;
  }
  virtual void arrive(const Arrival& a) = 0;
  // All that the server keeps beside theta, by the names of its snapshot.
  virtual NamedValues kept() const { return {}; }

  void message(int worker, int64_t batch, double sent, const StepInfo& told) final {
    arrive({worker, slope(sent, batch), static_cast<double>(told.learning_rate),
            static_cast<double>(told.peak_learning_rate), sent, told.lag});
  }
  void arrive(int, double, double, double) final {}  // of message() alone
  NamedValues state() const final {
    NamedValues all = kept();
    all["theta"] = theta;
    return all;
  }
};

inline std::string name_of(const char* name, int worker) { return std::string(name) + "/" + std::to_string(worker); }

inline NamedValues by_worker(const char* name, const double* values) {
  NamedValues named;
  for (int i = 0; i < kWorkers; ++i) named[name_of(name, i)] = values[i];
  return named;
}

inline NamedValues operator+(NamedValues a, const NamedValues& b) {
  a.insert(b.begin(), b.end());
  return a;
}

// Whose messages are in the open round, in their order.
inline NamedValues in_round(const std::set<int>& workers) {
  NamedValues values{{"taken", static_cast<double>(workers.size())}};
  int i = 0;
  for (const int worker : workers) values[name_of("in_round", i++)] = worker;
  return values;
}

struct SgdEquations : ServerEquations {
  double gamma, wd, v = 0, last_eta = 0;
  bool nesterov;
  SgdEquations(double momentum, bool look_ahead, double decay) : gamma(momentum), wd(decay), nesterov(look_ahead) {}
  void step(double g, double eta) {
    v = gamma * v + g + wd * theta;
    theta -= eta * v;
    last_eta = eta;
  }
  void arrive(const Arrival& a) override { step(a.g, a.eta); }
  double reply(int) override { return nesterov ? theta - gamma * last_eta * v : theta; }
  NamedValues kept() const override {
    return {{"rate", last_eta}, {"velocity", gamma == 0 ? 0 : v}};  // 0: it has no elements
  }
};

struct SsgdEquations : SgdEquations {
  size_t needed;
  bool scale;
  std::vector<double> gradients, rates;
  std::set<int> workers;
  SsgdEquations(double momentum, bool look_ahead, double decay, int backup, bool linear)
      : SgdEquations(momentum, look_ahead, decay), needed(static_cast<size_t>(kWorkers - backup)), scale(linear) {}
  static double sum(const std::vector<double>& values) {
    double all = 0;
    for (const double value : values) all += value;
    return all;
  }
  void arrive(const Arrival& a) override {
    gradients.push_back(a.g);
    rates.push_back(a.eta);
    workers.insert(a.worker);
    if (gradients.size() < needed) return;
    const double n = static_cast<double>(needed);
    step(sum(gradients) / n, scale ? sum(rates) : sum(rates) / n);
    gradients.clear();
    rates.clear();
    workers.clear();
  }
  NamedValues kept() const override {
    return SgdEquations::kept() + in_round(workers) + NamedValues{{"sum", sum(gradients)}, {"rates", sum(rates)}};
  }
};

struct AsgdEquations : ServerEquations {
  double wd;
  explicit AsgdEquations(double decay) : wd(decay) {}
  void arrive(const Arrival& a) override { theta -= a.eta * (a.g + wd * theta); }
};

struct SaAsgdEquations : SgdEquations {
  SaAsgdEquations(double momentum, double decay) : SgdEquations(momentum, false, decay) {}
  void arrive(const Arrival& a) override { step(a.g, a.lag == 0 ? a.eta : a.eta / static_cast<double>(a.lag)); }
};

struct NagAsgdEquations : SgdEquations {
  NagAsgdEquations(double momentum, double decay) : SgdEquations(momentum, true, decay) {}
  NamedValues kept() const override { return {{"rate", last_eta}, {"velocity", v}}; }
};

struct LwpEquations : NagAsgdEquations {
  bool measured;
  std::map<int, int64_t> lags;
  LwpEquations(double momentum, bool measured_lag, double decay)
      : NagAsgdEquations(momentum, decay), measured(measured_lag) {}
  void arrive(const Arrival& a) override {
    step(a.g, a.eta);
    if (measured) lags[a.worker] = a.lag;
  }
  double reply(int worker) override {
    const int64_t tau = lags.count(worker) != 0 ? lags[worker] : kWorkers - 1;
    return theta - static_cast<double>(tau) * last_eta * v;
  }
  NamedValues kept() const override {
    NamedValues values = NagAsgdEquations::kept();
    for (const auto& [worker, lag] : lags) values[name_of("lag", worker)] = static_cast<double>(lag);
    return values;
  }
};

// g + lambda g^2 (w - sent), of each rule that compensates.
struct CompensationEquations {
  double lambda0;
  bool adaptive = false;
  double m = 0.95, epsilon = 1e-7;
  bool per_worker = false;
  double mean_square[kWorkers] = {};
  double compensated(int worker, double g, double w, double sent) {
    double lambda = lambda0;
    if (adaptive) {
      double& ms = mean_square[per_worker ? worker : 0];
      ms = m * ms + (1 - m) * g * g;
      lambda = lambda0 / std::sqrt(ms + epsilon);
    }
    return g + lambda * g * g * (w - sent);
  }
  NamedValues kept() const {
    if (!adaptive) return {};
    if (per_worker) return by_worker("mean_square", mean_square);
    return {{"mean_square/0", mean_square[0]}};
  }
};

struct DcAsgdEquations : ServerEquations {
  CompensationEquations compensation;
  double gamma, wd, v[kWorkers] = {};
  bool velocity_per_worker;
  DcAsgdEquations(const CompensationEquations& c, double momentum, bool each, double decay)
      : compensation(c), gamma(momentum), wd(decay), velocity_per_worker(each) {}
  void arrive(const Arrival& a) override {
    const double g = compensation.compensated(a.worker, a.g, theta, a.sent) + wd * theta;
    double& velocity = v[velocity_per_worker ? a.worker : 0];
    velocity = gamma * velocity + g;
    theta -= a.eta * velocity;
  }
  NamedValues kept() const override {
    if (gamma == 0) return compensation.kept();
    if (velocity_per_worker) return compensation.kept() + by_worker("velocity", v);
    return compensation.kept() + NamedValues{{"velocity/0", v[0]}};
  }
};

struct DcSsgdEquations : ServerEquations {
  CompensationEquations compensation;
  double wd, w = theta;
  size_t needed;
  std::set<int> workers;
  DcSsgdEquations(const CompensationEquations& c, int backup, double decay)
      : compensation(c), wd(decay), needed(static_cast<size_t>(kWorkers - backup)) {}
  void arrive(const Arrival& a) override {
    w -= a.eta * (compensation.compensated(a.worker, a.g, w, a.sent) + wd * w);
    workers.insert(a.worker);
    if (workers.size() < needed) return;
    theta = w;
    workers.clear();
  }
  NamedValues kept() const override {
    return compensation.kept() + in_round(workers) + NamedValues{{"sum", theta - w}};
  }
};

struct MultiAsgdEquations : ServerEquations {
  double gamma, wd, v[kWorkers] = {};
  MultiAsgdEquations(double momentum, double decay) : gamma(momentum), wd(decay) {}
  void step(int i, double g, double eta) {
    v[i] = gamma * v[i] + g + wd * theta;
    theta -= eta * v[i];
  }
  void arrive(const Arrival& a) override { step(a.worker, a.g, a.eta); }
  NamedValues kept() const override { return by_worker("velocity", v); }
};

struct GapAwareEquations : MultiAsgdEquations {
  double keep, epsilon, mean_square = 0;
  int steps = 0;
  GapAwareEquations(double momentum, double share, double eps, double decay)
      : MultiAsgdEquations(momentum, decay), keep(share), epsilon(eps) {}
  void arrive(const Arrival& a) override {
    const double unbiased = steps == 0 ? 0 : mean_square / (1 - std::pow(keep, steps));
    const double typical = a.peak_eta * std::sqrt(unbiased) + epsilon;
    step(a.worker, a.g / (std::abs(theta - a.sent) / typical + 1), a.eta);
    mean_square = keep * mean_square + (1 - keep) * v[a.worker] * v[a.worker];
    ++steps;
  }
  NamedValues kept() const override {
    return MultiAsgdEquations::kept() +
           NamedValues{{"mean_square", mean_square}, {"steps", static_cast<double>(steps)}};
  }
};

struct DanaZeroEquations : MultiAsgdEquations {
  double last_eta[kWorkers] = {};
  using MultiAsgdEquations::MultiAsgdEquations;
  void arrive(const Arrival& a) override {
    step(a.worker, a.g, a.eta);
    last_eta[a.worker] = a.eta;
  }
  double sum() const {
    double steps = 0;
    for (int j = 0; j < kWorkers; ++j) steps += last_eta[j] * v[j];
    return steps;
  }
  double reply(int) override { return theta - gamma * sum(); }
  NamedValues kept() const override {
    return MultiAsgdEquations::kept() + by_worker("rate", last_eta) + NamedValues{{"steps", sum()}};
  }
};

struct DanaDcEquations : DanaZeroEquations {
  CompensationEquations compensation;
  DanaDcEquations(const CompensationEquations& c, double momentum, double decay)
      : DanaZeroEquations(momentum, decay), compensation(c) {}
  void arrive(const Arrival& a) override {
    Arrival compensated = a;
    compensated.g = compensation.compensated(a.worker, a.g, theta, a.sent);
    DanaZeroEquations::arrive(compensated);
  }
  NamedValues kept() const override { return DanaZeroEquations::kept() + compensation.kept(); }
};

}  // namespace tg::test
