#pragma once
// A rule against its equations on one parameter, written again in double by the test.

#include <cmath>
#include <map>
#include <string>

#include "framework/core/random.h"
#include "tests/optim/driver.h"

namespace tg::test {

inline constexpr int kEquationWorkers = 4;
inline constexpr double kEquationTolerance = 2e-6;  // float32 against double over 240 steps; values are near 1

// Logistic loss of one sample with one weight, three features apart, labels at random.
template <class Real>
Real slope(Real w, int64_t batch) {
  const Stream stream(static_cast<uint64_t>(batch));
  const Real x = static_cast<Real>(stream.uniform(0) * 3 + 0.5f), label = stream.uniform(1) < 0.7f ? 1 : 0;
  return (1 / (1 + std::exp(-w * x)) - label) * x;
}

// A rule's equations for a scalar theta, which begins at 0.7.
struct Equations {
  double theta = 0.7;
  virtual ~Equations() = default;
  // Takes in the gradient of the message's only batch, at what its worker was sent.
  virtual void arrive(int worker, double g, double eta, double sent) = 0;
  // The same for a message of any number of batches from `first`; `told` has the rates and the lag. Default: arrive().
  virtual void message(int worker, int64_t first, double sent, const StepInfo& told) {
    arrive(worker, slope(sent, first), static_cast<double>(told.learning_rate), sent);
  }
  virtual double reply(int) { return theta; }
  // What the rule's state must be at the end: the server's by its names, a worker's under "worker <i>: <name>". Empty:
  // only theta and what was sent are compared.
  virtual std::map<std::string, double> state() const { return {}; }
  bool state_before_each = false;               // it is all the server's, and compared before each message too
  double state_tolerance = kEquationTolerance;  // relative for what is above 1
};

// Runs the rule, then its equations on the same arrivals with gradients of their own.
void check(const std::string& spec, Equations&& equations);

}  // namespace tg::test
