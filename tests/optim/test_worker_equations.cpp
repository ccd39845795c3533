// As test_equations.cpp, for rules that compute at the worker: the whole state is compared, the workers' too.
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

BOOST_AUTO_TEST_SUITE(worker_equations)

BOOST_AUTO_TEST_CASE(dana_slim) {
  check("dana-slim", DanaSlimEquations(0.9, 0));
  check("dana-slim:momentum=0.5,weight-decay=0.1", DanaSlimEquations(0.5, 0.1));
  check("dana-slim:momentum=0", DanaSlimEquations(0, 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
