// YellowFin: the closed form of its choice against a search, and its closed loop on quadratics with delays.
#include <cmath>

#include "framework/core/random.h"
#include "optim/state_map.h"
#include "optim/yellowfin.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

double cost(double x, double h_min, double variance, double distance) {
  const double rate = (1 - x) * (1 - x) / h_min;
  return x * x * distance * distance + rate * rate * variance;
}

BOOST_AUTO_TEST_SUITE(yellowfin)

BOOST_AUTO_TEST_CASE(single_step_is_the_best_of_a_grid) {
  constexpr int kGrid = 20'000;
  int bound_holds = 0, bound_yields = 0;
  for (const double h_min : {1e-3, 0.7, 40.0})
    for (const double kappa : {1.0, 4.0, 1e4})
      for (const double variance : {1e-9, 1e-2, 1.0, 1e6})
        for (const double distance : {1e-4, 0.3, 10.0}) {
          const double root = std::sqrt(kappa), bound = (root - 1) / (root + 1);
          double best = cost(bound, h_min, variance, distance), best_x = bound;
          for (int i = 0; i <= kGrid; ++i) {
            const double x = bound + (1 - bound) * i / kGrid;
            if (cost(x, h_min, variance, distance) < best) best = cost(x, h_min, variance, distance), best_x = x;
          }
          const SingleStep chosen = single_step(h_min, h_min * kappa, variance, distance);
          const double x = std::sqrt(chosen.momentum);
          BOOST_TEST_CONTEXT("h_min " << h_min << " kappa " << kappa << " C " << variance << " D " << distance) {
            BOOST_TEST(std::abs(chosen.rate - (1 - x) * (1 - x) / h_min) <= 1e-9 * (1e-9 + chosen.rate));
            BOOST_TEST(x >= bound - 1e-12);
            BOOST_TEST(cost(x, h_min, variance, distance) <= best * (1 + 1e-9));
            BOOST_TEST(std::abs(x - best_x) <= 2.0 / kGrid);
          }
          ++(x > bound + 1e-6 ? bound_yields : bound_holds);
        }
  BOOST_TEST(bound_holds > 20);
  BOOST_TEST(bound_yields > 20);
}

BOOST_AUTO_TEST_CASE(the_ends_of_single_step) {
  // Without noise there is nothing to average: the least momentum that the range of curvatures allows.
  BOOST_TEST(single_step(2, 2, 0, 3).momentum == 0);
  BOOST_TEST(single_step(2, 2, 0, 3).rate == 0.5);
  BOOST_TEST(std::abs(single_step(1, 9, 0, 3).momentum - 0.25) < 1e-15);
  BOOST_TEST(std::abs(single_step(1, 9, 0, 3).rate - 0.25) < 1e-15);  // 1 / ((sqrt(1) + sqrt(9)) / 2)^2
  // Noise above all: hardly any step, and a long memory.
  const SingleStep noisy = single_step(1, 1, 1e200, 1e-3);
  BOOST_TEST(noisy.momentum > 0.999);
  BOOST_TEST(noisy.rate >= 0);
  BOOST_TEST(noisy.rate < 1e-9);
  BOOST_TEST(single_step(1, 1, 1e-300, 1e20).momentum == 0);
}

// On constant curvature without noise the tuner finds the rate 1 / h, whatever rate it began with: |g|^2 is taken for
// h.
BOOST_AUTO_TEST_CASE(gradients_of_one_size_give_the_rate_of_that_curvature) {
  YellowFinTuner tuner(0.9);
  tuner.start(5);
  for (int i = 0; i < 400; ++i) tuner.observe(4, 4 * tuner.next_weight() * tuner.next_weight());  // always the same
  BOOST_TEST(std::abs(tuner.rate() - 0.25) < 1e-12);
  BOOST_TEST(std::abs(tuner.momentum()) < 1e-12);
}

// What a run's closed loop says at each update.
struct Loop {
  double mu = 0, measured = 0, target = 0;
};

Loop loop_of(const Update& update) {
  StateMap state;
  update.save(state);
  const StateReader& reader = state;
  double loop[2], averages[7];
  reader.read("loop", BasicSpan<double>(loop, 2));
  reader.read("tuner/averages", BasicSpan<double>(averages, 7));
  return {loop[0], loop[1], averages[5]};
}

// A quadratic of curvatures from 0.5 to 1 in 64 directions, with a little noise in each gradient.
Gradient noisy_quadratic(float noise) {
  return [noise](View at, int64_t batch, Span out) {
    const Stream stream(static_cast<uint64_t>(batch) + 17);
    for (int64_t k = 0; k < at.size; ++k)
      out[k] = (0.5f + 0.5f * static_cast<float>(k) / 64) * at[k] + noise * stream.normal(static_cast<uint64_t>(k));
  };
}

// Means over the last half of a run.
Loop settled(int workers, float noise, int64_t updates) {
  const auto rule = test::rule("yellowfin:closed-loop=true,beta=0.99");
  std::vector<float> initial(64, 1);
  Driver driver(*rule, flat_layout(64), initial, noisy_quadratic(noise), constant_rate(0.01));
  for (WorkerId worker = 0; worker < workers; ++worker) driver.join(worker);
  Generator draw(Stream(3).split("arrivals"));
  Loop mean;
  for (int64_t i = 0; i < updates; ++i) {
    const std::vector<WorkerId> working = driver.working();
    driver.arrive(working[draw.below(working.size())]);
    if (i < updates / 2) continue;
    const Loop now = loop_of(driver.update());
    const double share = 2.0 / static_cast<double>(updates);
    mean.mu += now.mu * share, mean.measured += now.measured * share, mean.target += now.target * share;
  }
  for (const float value : driver.theta()) BOOST_REQUIRE(std::isfinite(value));
  return mean;
}

BOOST_AUTO_TEST_CASE(the_closed_loop_brings_the_total_momentum_to_the_target) {
  for (const float noise : {0.01f, 0.1f}) {
    for (const int workers : {2, 4, 8, 16}) BOOST_TEST_CONTEXT(workers << " workers, noise " << noise) {
        const Loop mean = settled(workers, noise, 6000);
        BOOST_TEST(std::abs(mean.measured - mean.target) < 0.03);
        BOOST_TEST(mean.mu < mean.target - 0.1);  // asynchrony adds the rest
      }
    const Loop alone = settled(1, noise, 6000);
    BOOST_TEST(std::abs(alone.measured - alone.mu) < 0.003);  // nothing is added to one worker's
    BOOST_TEST(std::abs(alone.mu - alone.target) < 0.03);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
