// Each rule against its equations on one parameter, written again in double, with every option on and off, under a rate
// that changes, in a random order of arrivals.
#include <cmath>

#include "tests/optim/bits.h"
#include "tests/optim/equations.h"

namespace {

using namespace tg;
using namespace tg::test;

constexpr int kWorkers = kEquationWorkers;

struct SgdEquations : Equations {
  double gamma, wd, v = 0, last_eta = 0;
  bool nesterov;
  SgdEquations(double momentum, bool look_ahead, double decay) : gamma(momentum), wd(decay), nesterov(look_ahead) {}
  void arrive(int, double g, double eta, double) override {
    v = gamma * v + g + wd * theta;
    theta -= eta * v;
    last_eta = eta;
  }
  double reply(int) override { return nesterov ? theta - gamma * last_eta * v : theta; }
};

struct SsgdEquations : SgdEquations {
  size_t needed;
  bool scale;
  std::vector<double> gradients, rates;
  SsgdEquations(double momentum, bool look_ahead, double decay, int backup, bool linear)
      : SgdEquations(momentum, look_ahead, decay), needed(static_cast<size_t>(kWorkers - backup)), scale(linear) {}
  void arrive(int worker, double g, double eta, double sent) override {
    gradients.push_back(g);
    rates.push_back(eta);
    if (gradients.size() < needed) return;
    double mean = 0, rate = 0;
    for (const double each : gradients) mean += each / static_cast<double>(needed);
    for (const double each : rates) rate += each / static_cast<double>(needed);
    SgdEquations::arrive(worker, mean, scale ? rate * static_cast<double>(needed) : rate, sent);
    gradients.clear();
    rates.clear();
  }
};

struct AsgdEquations : Equations {
  double wd;
  explicit AsgdEquations(double decay) : wd(decay) {}
  void arrive(int, double g, double eta, double) override { theta -= eta * (g + wd * theta); }
};

struct DcAsgdEquations : Equations {
  double lambda0, wd;
  DcAsgdEquations(double lambda, double decay) : lambda0(lambda), wd(decay) {}
  virtual double lambda(int, double) { return lambda0; }
  void arrive(int worker, double g, double eta, double sent) override {
    const double compensated = g + lambda(worker, g) * g * g * (theta - sent);
    theta -= eta * (compensated + wd * theta);
  }
};

struct DcAsgdAEquations : DcAsgdEquations {
  double m, epsilon, mean_square[kWorkers] = {};
  bool per_worker;
  DcAsgdAEquations(double lambda, double keep, double eps, bool each, double decay)
      : DcAsgdEquations(lambda, decay), m(keep), epsilon(eps), per_worker(each) {}
  double lambda(int worker, double g) override {
    double& ms = mean_square[per_worker ? worker : 0];
    ms = m * ms + (1 - m) * g * g;
    return lambda0 / std::sqrt(ms + epsilon);
  }
};

struct MultiAsgdEquations : Equations {
  double gamma, wd, v[kWorkers] = {};
  MultiAsgdEquations(double momentum, double decay) : gamma(momentum), wd(decay) {}
  void arrive(int i, double g, double eta, double) override {
    v[i] = gamma * v[i] + g + wd * theta;
    theta -= eta * v[i];
  }
};

struct DanaZeroEquations : MultiAsgdEquations {
  double last_eta[kWorkers] = {};
  using MultiAsgdEquations::MultiAsgdEquations;
  void arrive(int i, double g, double eta, double sent) override {
    MultiAsgdEquations::arrive(i, g, eta, sent);
    last_eta[i] = eta;
  }
  double reply(int) override {
    double ahead = theta;
    for (int j = 0; j < kWorkers; ++j) ahead -= gamma * last_eta[j] * v[j];
    return ahead;
  }
};

BOOST_AUTO_TEST_SUITE(equations)

BOOST_AUTO_TEST_CASE(sgd) {
  check("sgd", SgdEquations(0, false, 0));
  check("sgd:weight-decay=0.1", SgdEquations(0, false, 0.1));
  check("sgd:momentum=0.9", SgdEquations(0.9, false, 0));
  check("sgd:momentum=0.9,weight-decay=0.1", SgdEquations(0.9, false, 0.1));
  check("sgd:momentum=0.9,nesterov=true", SgdEquations(0.9, true, 0));
  check("sgd:momentum=0.9,nesterov=true,weight-decay=0.1", SgdEquations(0.9, true, 0.1));
  check("sgd:nesterov=true", SgdEquations(0, false, 0));
}

BOOST_AUTO_TEST_CASE(ssgd) {
  check("ssgd", SsgdEquations(0, false, 0, 0, false));
  check("ssgd:weight-decay=0.1", SsgdEquations(0, false, 0.1, 0, false));
  check("ssgd:momentum=0.9", SsgdEquations(0.9, false, 0, 0, false));
  check("ssgd:momentum=0.9,nesterov=true", SsgdEquations(0.9, true, 0, 0, false));
  check("ssgd:scale=true", SsgdEquations(0, false, 0, 0, true));
  check("ssgd:backup=1", SsgdEquations(0, false, 0, 1, false));
  check("ssgd:backup=2,scale=true,momentum=0.8,nesterov=true,weight-decay=0.1", SsgdEquations(0.8, true, 0.1, 2, true));
}

BOOST_AUTO_TEST_CASE(asgd) {
  check("asgd", AsgdEquations(0));
  check("asgd:weight-decay=0.1", AsgdEquations(0.1));
}

BOOST_AUTO_TEST_CASE(dc_asgd_c) {
  check("dc-asgd-c", DcAsgdEquations(0.04, 0));
  check("dc-asgd-c:lambda=2", DcAsgdEquations(2, 0));
  check("dc-asgd-c:lambda=2,weight-decay=0.1", DcAsgdEquations(2, 0.1));
}

BOOST_AUTO_TEST_CASE(dc_asgd_a) {
  check("dc-asgd-a", DcAsgdAEquations(2, 0.95, 1e-7, false, 0));
  check("dc-asgd-a:lambda=0.5", DcAsgdAEquations(0.5, 0.95, 1e-7, false, 0));
  check("dc-asgd-a:m=0", DcAsgdAEquations(2, 0, 1e-7, false, 0));
  check("dc-asgd-a:epsilon=0.01", DcAsgdAEquations(2, 0.95, 0.01, false, 0));
  check("dc-asgd-a:mean-square=worker", DcAsgdAEquations(2, 0.95, 1e-7, true, 0));
  check("dc-asgd-a:mean-square=worker,m=0.5,weight-decay=0.1", DcAsgdAEquations(2, 0.5, 1e-7, true, 0.1));
}

BOOST_AUTO_TEST_CASE(multi_asgd) {
  check("multi-asgd", MultiAsgdEquations(0.9, 0));
  check("multi-asgd:momentum=0.5,weight-decay=0.1", MultiAsgdEquations(0.5, 0.1));
  check("multi-asgd:momentum=0", MultiAsgdEquations(0, 0));
}

BOOST_AUTO_TEST_CASE(dana_zero) {
  check("dana-zero", DanaZeroEquations(0.9, 0));
  check("dana-zero:momentum=0.5,weight-decay=0.1", DanaZeroEquations(0.5, 0.1));
  check("dana-zero:momentum=0", DanaZeroEquations(0, 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
