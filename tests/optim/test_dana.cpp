// DANA-Zero: the gaps and the identity that its look-ahead is made for, and the sum of steps behind it.
#include <cmath>

#include "framework/core/random.h"
#include "optim/dana_zero.h"
#include "optim/state_map.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

StateMap state_of(const Update& update) {
  StateMap state;
  update.save(state);
  return state;
}

std::vector<float> velocity_of(const Update& update, WorkerId worker) {
  std::vector<float> v(static_cast<size_t>(update.theta().size));
  const StateMap state = state_of(update);
  const StateReader& reader = state;
  reader.read("velocity/" + std::to_string(worker), Span(v.data(), update.theta().size));
  return v;
}

std::vector<double> sum_of(const Update& update) {
  std::vector<double> sum(static_cast<size_t>(update.theta().size));
  const StateMap state = state_of(update);
  const StateReader& reader = state;
  reader.read("steps", BasicSpan<double>(sum.data(), update.theta().size));
  return sum;
}

BOOST_AUTO_TEST_SUITE(dana)

// Constant gradients of 1, eight workers in turn, momentum 0.9: the distance at an arrival between the server's theta
// (or, if `without_own_velocity`, theta - eta gamma v[i]) and what the worker used, in units of eta.
double settled_gap(const std::string& spec, bool without_own_velocity = false) {
  constexpr double eta = 1.0 / 1024;
  const auto rule = test::rule(spec);
  const Gradient ones = [](View, int64_t, Span out) { std::fill(out.begin(), out.end(), 1.0f); };
  Driver driver(*rule, flat_layout(16), std::vector<float>(16), ones, constant_rate(eta));
  for (WorkerId worker = 0; worker < 8; ++worker) driver.join(worker);
  arrive_in_turn(driver, 8, 250);
  double reference = driver.theta()[0];
  if (without_own_velocity) reference -= eta * 0.9 * velocity_of(driver.update(), 0)[0];
  return std::abs(reference - driver.sent(0)[0]) / eta;
}

BOOST_AUTO_TEST_CASE(constant_gradient_gaps) {
  constexpr double kRounding = 2e-2;  // theta is about -20 here, so float32 resolves 2e-6, or 0.002 eta
  BOOST_TEST(std::abs(settled_gap("asgd") - 7) < kRounding);                      // N - 1
  BOOST_TEST(std::abs(settled_gap("multi-asgd:momentum=0.9") - 70) < kRounding);  // (N - 1) / (1 - gamma)
  BOOST_TEST(std::abs(settled_gap("dana-zero:momentum=0.9") - 2) < kRounding);    // |N - 1 - gamma N| / (1 - gamma)
  BOOST_TEST(std::abs(settled_gap("dana-zero:momentum=0.9", true) - 7) < kRounding);
  BOOST_TEST(std::abs(settled_gap("nag-asgd:momentum=0.9") - 61) < kRounding);  // (N - 1 - gamma) / (1 - gamma)
  // The prediction is exact where the velocity stays as it is and the lag is what was expected.
  BOOST_TEST(std::abs(settled_gap("lwp:momentum=0.9")) < kRounding);
  BOOST_TEST(std::abs(settled_gap("sa-asgd") - 1) < kRounding);  // (N - 1) / tau
  // Each v is 1 / (Gap (1 - gamma)), and Gap = N: N - 1 typical steps away. Then (N - 1) / (N (1 - gamma)).
  BOOST_TEST(std::abs(settled_gap("gap-aware:momentum=0.9,keep=0.5") - 8.75) < kRounding);
  // The gap d is 2 eta g', as for dana-zero, by the compensated gradient g' = 1 + lambda d.
  BOOST_TEST(std::abs(settled_gap("dana-dc:momentum=0.9,lambda=50") - 2 / (1 - 2 * 50 / 1024.0)) < kRounding);
}

// In turn, at the arrival of worker i: [theta - eta gamma v[i]] - sent[i] = -eta sum of the other workers' gradients
// since.
BOOST_AUTO_TEST_CASE(look_ahead_leaves_no_velocity_in_the_gap) {
  constexpr int kWorkers = 8;
  constexpr float eta = 0.02f, gamma = 0.9f;
  const DanaZero rule({.momentum = gamma});
  const Logistic task(37);
  const Gradient gradient = task.gradient();
  Driver driver(rule, task.layout(), task.initial(), gradient, constant_rate(eta));
  for (WorkerId worker = 0; worker < kWorkers; ++worker) driver.join(worker);
  double worst = 0, largest = 0;
  std::vector<std::vector<double>> g(kWorkers, std::vector<double>(37));  // each worker's last gradient
  for (int round = 0; round < 30; ++round) {
    for (WorkerId i = 0; i < kWorkers; ++i) {
      const std::vector<float> v = velocity_of(driver.update(), i);
      for (int64_t k = 0; k < 37; ++k) {
        double others = 0;
        for (WorkerId j = 0; j < kWorkers; ++j)
          if (j != i) others += g[static_cast<size_t>(j)][static_cast<size_t>(k)];
        const double gap = driver.theta()[k] - double{eta} * gamma * v[static_cast<size_t>(k)] - driver.sent(i)[k];
        worst = std::max(worst, std::abs(gap + eta * others));
        largest = std::max(largest, std::abs(gap));
      }
      std::vector<float> message(static_cast<size_t>(task.layout().size()));
      for (auto event = driver.log().rbegin(); event != driver.log().rend(); ++event) {
        if (event->kind != Logged::Kind::sent || event->worker != i) continue;
        gradient(view_of(event->sent), event->batch, {message.data(), task.layout().size()});
        break;
      }
      for (size_t k = 0; k < 37; ++k) g[static_cast<size_t>(i)][k] = message[k];
      driver.arrive(i);
    }
  }
  BOOST_TEST(worst < 1e-6);
  BOOST_TEST(largest > 1e-3);
}

// A million updates by sixteen workers at changing rates: the running sum against one made afresh.
BOOST_AUTO_TEST_CASE(the_sum_does_not_drift) {
  constexpr int64_t n = 16;
  const DanaZero rule({.momentum = 0.9f});
  const auto update = rule.update(flat_layout(n), view_of(std::vector<float>(n)));
  for (WorkerId worker = 0; worker < 16; ++worker) update->join(worker);
  const Stream noise(5);
  std::vector<float> rates(16), g(n);
  for (uint64_t step = 0; step < 1'000'000; ++step) {
    const auto bits = noise.bits(step);
    for (size_t k = 0; k < n; ++k)
      g[k] = static_cast<float>(static_cast<int32_t>(bits[k % 4] * (2 * k + 1))) * 0x1p-31f;
    const auto worker = static_cast<WorkerId>(bits[0] >> 28);
    rates[static_cast<size_t>(worker)] = 0.1f / static_cast<float>(1 + step % 977);
    update->apply(worker, view_of(g), {.learning_rate = rates[static_cast<size_t>(worker)]});
  }
  std::vector<double> fresh(n);
  for (WorkerId worker = 0; worker < 16; ++worker) {
    const std::vector<float> v = velocity_of(*update, worker);
    for (size_t k = 0; k < n; ++k) fresh[k] += static_cast<double>(rates[static_cast<size_t>(worker)] * v[k]);
  }
  const std::vector<double> running = sum_of(*update);
  for (size_t k = 0; k < n; ++k) {
    BOOST_TEST(std::abs(running[k] - fresh[k]) < 1e-13);
    BOOST_TEST(std::abs(fresh[k]) > 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(a_worker_that_leaves_takes_its_velocity_along) {
  const Logistic task(37);
  const DanaZero rule({.momentum = 0.9f});
  Driver driver(rule, task.layout(), task.initial(), task.gradient(), changing_rate(0.05));
  for (WorkerId worker = 0; worker < 3; ++worker) driver.join(worker);
  arrive_at_random(driver, 60, 2);
  const std::vector<float> theta = values_of(driver.theta());
  driver.leave(1);
  BOOST_TEST(same_bits(driver.theta(), view_of(theta)));  // what it has done stays done

  // The sum is that of the workers that are left: 0 and 2, and the reply looks ahead by it.
  const StateMap state = state_of(driver.update());
  const StateReader& reader = state;
  BOOST_TEST(state.values().count("velocity/1") == 0u);
  BOOST_TEST(state.values().count("rate/1") == 0u);
  const std::vector<double> sum = sum_of(driver.update());
  const std::vector<float> v0 = velocity_of(driver.update(), 0), v2 = velocity_of(driver.update(), 2);
  float rate0 = 0, rate2 = 0;
  reader.read("rate/0", Span(&rate0, 1));
  reader.read("rate/2", Span(&rate2, 1));
  for (size_t k = 0; k < 37; ++k) BOOST_TEST(std::abs(sum[k] - (double{rate0} * v0[k] + double{rate2} * v2[k])) < 1e-8);

  // It comes back with a velocity of zero.
  driver.join(1);
  BOOST_TEST(same_bits(velocity_of(driver.update(), 1), std::vector<float>(theta.size())));
  BOOST_CHECK(sum_of(driver.update()) == sum);

  // When all have left, nothing is left of the sum but its last rounding.
  for (const WorkerId worker : {0, 1, 2}) driver.leave(worker);
  for (const double rest : sum_of(driver.update())) BOOST_TEST(std::abs(rest) < 1e-15);
}

BOOST_AUTO_TEST_CASE(a_gradient_of_an_unknown_worker_is_refused) {
  const DanaZero rule;
  const auto update = rule.update(flat_layout(16), view_of(std::vector<float>(16)));
  BOOST_CHECK_THROW(update->apply(5, view_of(std::vector<float>(16)), {}), Error);
  update->leave(5);  // somebody who never was there leaves nothing behind
  BOOST_CHECK(sum_of(*update) == std::vector<double>(16));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
