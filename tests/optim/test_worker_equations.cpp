// As test_equations.cpp, for rules that compute at the worker, and those with one worker: the whole state is compared,
// the workers' too.
#include <cmath>
#include <set>

#include "tests/optim/bits.h"
#include "tests/optim/equations.h"

namespace {

using namespace tg;
using namespace tg::test;

constexpr int kWorkers = kEquationWorkers;

std::string of_worker(int i, const char* name) { return fmt::format("worker {}: {}", i, name); }

struct DanaSlimEquations : Equations {
  double gamma, wd, v[kWorkers] = {}, before[kWorkers] = {}, eta_old[kWorkers] = {}, eta_before[kWorkers] = {};
  DanaSlimEquations(double momentum, double decay) : gamma(momentum), wd(decay) {}
  void arrive(int i, double g, double eta, double received) override {
    const double v_old = v[i];
    v[i] = gamma * v_old + g + wd * received;
    theta -= eta * v[i] + gamma * (eta * v[i] - eta_old[i] * v_old);
    before[i] = v_old;
    eta_before[i] = eta_old[i];
    eta_old[i] = eta;
  }
  std::map<std::string, double> state() const override {
    std::map<std::string, double> all = {{"theta", theta}};
    for (int i = 0; i < kWorkers; ++i) {
      all[of_worker(i, "velocity")] = v[i];
      all[of_worker(i, "before")] = before[i];
      all[of_worker(i, "ahead")] = gamma * eta_old[i] * v[i];
      all[of_worker(i, "rate")] = eta_old[i];
      all[of_worker(i, "rate_before")] = eta_before[i];
    }
    return all;
  }
};

struct EasgdEquations : Equations {
  double alpha, wd, x[kWorkers];
  int64_t tau;
  EasgdEquations(double beta, int64_t period, double decay) : alpha(beta / kWorkers), wd(decay), tau(period) {
    for (double& each : x) each = theta;
  }
  void arrive(int, double, double, double) override {}
  virtual void step(int, double& at, int64_t batch, double eta) { at -= eta * (slope(at, batch) + wd * at); }
  void message(int i, int64_t first, double sent, const StepInfo& told) override {
    double at = sent;
    for (int64_t batch = first; batch < first + tau; ++batch)
      step(i, at, batch, static_cast<double>(told.learning_rate));
    const double e = alpha * (at - theta);
    x[i] = at - e;
    theta += e;
  }
  double reply(int i) override { return x[i]; }
  std::map<std::string, double> state() const override {
    std::map<std::string, double> all = {{"theta", theta}};
    for (int i = 0; i < kWorkers; ++i) all[fmt::format("x/{}", i)] = x[i];
    return all;
  }
};

struct EamsgdEquations : EasgdEquations {
  double gamma, v[kWorkers] = {}, before[kWorkers] = {}, eta_old[kWorkers] = {}, eta_before[kWorkers] = {};
  EamsgdEquations(double momentum, double beta, int64_t period, double decay)
      : EasgdEquations(beta, period, decay), gamma(momentum) {}
  void message(int i, int64_t first, double sent, const StepInfo& told) override {
    before[i] = v[i];
    eta_before[i] = eta_old[i];
    EasgdEquations::message(i, first, sent, told);
  }
  void step(int i, double& at, int64_t batch, double eta) override {
    v[i] = gamma * v[i] + slope(at - gamma * eta_old[i] * v[i], batch) + wd * at;
    at -= eta * v[i];
    eta_old[i] = eta;
  }
  std::map<std::string, double> state() const override {
    std::map<std::string, double> all = EasgdEquations::state();
    for (int i = 0; i < kWorkers; ++i) {
      all[of_worker(i, "velocity")] = v[i];
      all[of_worker(i, "before")] = before[i];
      all[of_worker(i, "rate")] = eta_old[i];
      all[of_worker(i, "rate_before")] = eta_before[i];
    }
    return all;
  }
};

struct LocalSgdEquations : Equations {
  int64_t steps;
  double wd, sum = 0;
  std::set<int> in_round;
  LocalSgdEquations(int64_t period, double decay) : steps(period), wd(decay) {}
  void arrive(int, double, double, double) override {}
  void message(int i, int64_t first, double sent, const StepInfo& told) override {
    double x = sent;
    for (int64_t batch = first; batch < first + steps; ++batch)
      x -= static_cast<double>(told.learning_rate) * (slope(x, batch) + wd * x);
    sum += sent - x;
    in_round.insert(i);
    if (in_round.size() < kWorkers) return;
    theta -= sum / kWorkers;
    sum = 0;
    in_round.clear();
  }
  std::map<std::string, double> state() const override {
    std::map<std::string, double> all = {
        {"theta", theta}, {"sum", sum}, {"taken", static_cast<double>(in_round.size())}};
    int i = 0;
    for (const int worker : in_round) all[fmt::format("in_round/{}", i++)] = worker;
    return all;
  }
};

struct AdamEquations : Equations {
  double b1, b2, epsilon, wd, m = 0, v = 0;
  int t = 0;
  AdamEquations(double beta1, double beta2, double eps, double decay) : b1(beta1), b2(beta2), epsilon(eps), wd(decay) {}
  void arrive(int, double g, double eta, double) override {
    ++t;
    g += wd * theta;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    theta -= eta * (m / (1 - std::pow(b1, t))) / (std::sqrt(v / (1 - std::pow(b2, t))) + epsilon);
  }
  std::map<std::string, double> state() const override {
    return {{"theta", theta}, {"mean", m}, {"mean_square", v}, {"t", t}};
  }
};

// The running means of one parameter's gradients, and what they make of momentum and rate.
struct YellowFinEquations : Equations {
  double beta, wd, v = 0;
  bool closed;
  double mean = 0, square = 0, low = 0, high = 0, norm = 0, h = 0, distance = 0, target = 0, rate = 0;
  std::vector<double> last;
  double mu = 0, measured = 0, before[kWorkers] = {}, after[kWorkers] = {};
  std::set<int> fresh;
  YellowFinEquations(double keep, bool loop, double decay) : beta(keep), wd(decay), closed(loop) {}

  void average(double& of, double value) const { of = beta * of + (1 - beta) * value; }
  // The root in [0, 1] of (1 - x)^3 = p x, by halving.
  static double root(double p) {
    double least = 0, most = 1;
    for (int i = 0; i < 100; ++i) {
      const double x = (least + most) / 2;
      (std::pow(1 - x, 3) > p * x ? least : most) = x;
    }
    return least;
  }
  void arrive(int, double, double, double) override {}
  void message(int i, int64_t batch, double sent, const StepInfo& told) override {
    const double g = slope(sent, batch), peak = static_cast<double>(told.peak_learning_rate);
    if (last.empty()) rate = peak;
    last.push_back(g * g);
    const size_t window = std::min<size_t>(last.size(), 20);
    const auto begin = last.end() - static_cast<std::ptrdiff_t>(window);
    average(mean, g);
    average(square, g * g);
    average(low, *std::min_element(begin, last.end()));
    average(high, *std::max_element(begin, last.end()));
    average(norm, std::abs(g));
    average(h, g * g);
    average(distance, norm / h);
    const double w = 1 - std::pow(beta, static_cast<double>(last.size()));
    const double variance = std::max(0.0, square / w - mean / w * mean / w), kappa = std::sqrt(high / low);
    const double x = std::max(root(std::pow(distance * low / w / w, 2) / (2 * variance)), (kappa - 1) / (kappa + 1));
    average(target, x * x);
    average(rate, (1 - x) * (1 - x) / (low / w));

    v = (closed ? mu : target) * v + g + wd * theta;
    theta -= static_cast<double>(told.learning_rate) / peak * rate * v;
    if (!closed) return;
    for (const int worker : fresh) after[worker] = v;
    fresh.clear();
    if (before[i] == 0) return;
    measured = (after[i] - (g + wd * sent)) / before[i];
    mu += 0.01 * (target - measured);
  }
  double reply(int i) override {
    before[i] = v;
    fresh.insert(i);
    return theta;
  }
  std::map<std::string, double> state() const override {
    std::map<std::string, double> all = {{"theta", theta},
                                         {"velocity", v},
                                         {"mean", mean},
                                         {"tuner/steps", static_cast<double>(last.size())},
                                         {"tuner/window", last[last.size() - 20]},
                                         {"tuner/averages", low}};
    if (!closed) return all;
    all["loop"] = mu;
    for (int i = 0; i < kWorkers; ++i) {
      all[fmt::format("before/{}", i)] = before[i];
      all[fmt::format("after/{}", i)] = after[i];
    }
    return all;
  }
};

BOOST_AUTO_TEST_SUITE(worker_equations)

BOOST_AUTO_TEST_CASE(dana_slim) {
  check("dana-slim", DanaSlimEquations(0.9, 0));
  check("dana-slim:momentum=0.5,weight-decay=0.1", DanaSlimEquations(0.5, 0.1));
  check("dana-slim:momentum=0", DanaSlimEquations(0, 0));
}

BOOST_AUTO_TEST_CASE(easgd) {
  check("easgd:period=1", EasgdEquations(0.9, 1, 0));
  check("easgd", EasgdEquations(0.9, 10, 0));
  check("easgd:beta=0.3,period=3,weight-decay=0.1", EasgdEquations(0.3, 3, 0.1));
}

BOOST_AUTO_TEST_CASE(eamsgd) {
  check("eamsgd:period=3", EamsgdEquations(0.99, 0.9, 3, 0));
  check("eamsgd:momentum=0.5,beta=0.3,period=2,weight-decay=0.1", EamsgdEquations(0.5, 0.3, 2, 0.1));
  check("eamsgd:momentum=0", EamsgdEquations(0, 0.9, 10, 0));
}

BOOST_AUTO_TEST_CASE(local_sgd) {
  check("local-sgd:period=1", LocalSgdEquations(1, 0));
  check("local-sgd:period=3,weight-decay=0.1", LocalSgdEquations(3, 0.1));
}

// Shares of running means as float32 has them: 1 - 0.999 is 1e-5 of itself off there.
BOOST_AUTO_TEST_CASE(adam) {
  check("adam", AdamEquations(0.9f, 0.999f, 1e-8, 0));
  check("adam:beta1=0.5,beta2=0.9,epsilon=0.01,weight-decay=0.1", AdamEquations(0.5, 0.9f, 0.01, 0.1));
  check("adam:beta1=0", AdamEquations(0, 0.999f, 1e-8, 0));
}

BOOST_AUTO_TEST_CASE(yellowfin) {
  check("yellowfin", YellowFinEquations(0.999f, false, 0));
  check("yellowfin:beta=0.99,weight-decay=0.1", YellowFinEquations(0.99f, false, 0.1));
  check("yellowfin:closed-loop=true,weight-decay=0.1", YellowFinEquations(0.999f, true, 0.1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
