#include "dist/simulate/clock.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/dist/fake.h"

using namespace tg;

BOOST_AUTO_TEST_SUITE(clock_of_the_simulator)

struct Durations {
  double mean = 0, deviation = 0, share_late = 0;  // above 1.25 times the mean
};

Durations durations(const ClockOptions& options, int workers, int64_t tasks) {
  const GammaClock clock(options, workers, Stream(17));
  const double count = static_cast<double>(workers) * static_cast<double>(tasks);
  double sum = 0, squares = 0, late = 0;
  for (int worker = 0; worker < workers; ++worker)
    for (int64_t task = 0; task < tasks; ++task) {
      const double duration = clock.duration(worker, task);
      sum += duration, squares += duration * duration;
      late += duration > 1.25 * options.mean;
    }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean), late / count};
}

// Moments of the gamma distribution; the bounds are five standard errors.
BOOST_AUTO_TEST_CASE(homogeneous_durations_have_the_moments_of_the_papers) {
  constexpr double n = 8 * 25'000;
  const Durations d = durations({}, 8, 25'000);
  BOOST_TEST(std::abs(d.mean - 128) < 5 * 12.8 / std::sqrt(n));
  BOOST_TEST(std::abs(d.deviation - 12.8) < 5 * 12.8 * std::sqrt((2 + 0.06) / 4 / n));
  BOOST_TEST(std::abs(d.share_late - 0.0094) < 5 * std::sqrt(0.0094 / n));
}

// One task a machine: tasks of one machine are not independent.
BOOST_AUTO_TEST_CASE(heterogeneous_durations_have_the_moments_of_the_papers) {
  constexpr double n = 100'000;
  const Durations d = durations({.heterogeneous = true}, 100'000, 1);
  const double variation = std::sqrt(1.01 * 1.36 - 1);  // (1 + V^2) (1 + V_machine^2) - 1
  BOOST_TEST(std::abs(d.mean - 128) < 5 * 128 * variation / std::sqrt(n));
  BOOST_TEST(std::abs(d.deviation / 128 - variation) < 0.02);
  BOOST_TEST(std::abs(d.share_late - 0.278) < 5 * std::sqrt(0.278 * 0.722 / n));
}

BOOST_AUTO_TEST_CASE(a_machine_keeps_its_mean) {
  const GammaClock clock({.heterogeneous = true}, 4, Stream(3));
  for (int worker = 0; worker < 4; ++worker) {
    double sum = 0;
    for (int64_t task = 0; task < 4000; ++task) sum += clock.duration(worker, task);
    const double mean = clock.machine_mean(worker);
    BOOST_TEST(std::abs(sum / 4000 - mean) < 5 * 0.1 * mean / std::sqrt(4000));
  }
  BOOST_TEST(clock.machine_mean(0) != clock.machine_mean(1));
}

BOOST_AUTO_TEST_CASE(a_duration_depends_on_stream_worker_and_task_alone) {
  const GammaClock few({.heterogeneous = true}, 2, Stream(3)), many({.heterogeneous = true}, 40, Stream(3));
  const double last_first = few.duration(1, 1000), first = few.duration(0, 0);
  BOOST_TEST(many.duration(0, 0) == first);
  BOOST_TEST(many.duration(1, 1000) == last_first);
  BOOST_TEST(few.duration(1, 1000) == last_first);

  BOOST_TEST(few.duration(0, 1) != first);
  BOOST_TEST(few.duration(1, 0) != first);
  BOOST_TEST(GammaClock({.heterogeneous = true}, 2, Stream(4)).duration(0, 0) != first);
}

BOOST_AUTO_TEST_CASE(without_variation_every_task_takes_the_mean) {
  const GammaClock clock({.mean = 7, .variation = 0}, 3, Stream(1));
  for (int worker = 0; worker < 3; ++worker) BOOST_TEST(clock.duration(worker, worker) == 7);
}

BOOST_AUTO_TEST_CASE(impossible_clocks_are_refused) {
  for (const ClockOptions& options :
       {ClockOptions{.mean = 0}, ClockOptions{.mean = -1}, ClockOptions{.mean = NAN}, ClockOptions{.variation = -0.1},
        ClockOptions{.variation = 1.1}, ClockOptions{.variation = NAN}, ClockOptions{.machine_variation = 2}})
    BOOST_CHECK_THROW(GammaClock(options, 1, Stream(1)), Error);
  BOOST_CHECK_THROW(GammaClock({}, 0, Stream(1)), Error);
}

struct Lags {
  double mean = 0, deviation = 0;
  int64_t most = 0;
};

Lags lags(const ClockOptions& clock, int workers) {
  const fake::ConstantTask task;
  const fake::PlainRule rule;
  const History history = fake::run(fake::job(task, rule, workers, 10'000), {.clock = clock, .pool_threads = 1});
  double sum = 0, squares = 0;
  Lags lags;
  for (const UpdateRecord& update : history.updates) {
    const double lag = static_cast<double>(update.lag);
    sum += lag, squares += lag * lag;
    lags.most = std::max(lags.most, update.lag);
  }
  const double count = static_cast<double>(history.updates.size());
  lags.mean = sum / count;
  lags.deviation = std::sqrt(squares / count - lags.mean * lags.mean);
  return lags;
}

// Spread measured with another program of this clock over 40,000 updates. What is still in flight at the end makes the
// mean a little less than N - 1.
BOOST_AUTO_TEST_CASE(mean_lag_is_one_less_than_the_workers) {
  const struct {
    int workers;
    double deviation;
    int64_t most;
  } expected[] = {{4, 0.64, 6}, {8, 1.09, 13}, {16, 1.95, 26}};
  for (const auto& e : expected) {
    const Lags measured = lags({}, e.workers);
    BOOST_TEST_CONTEXT("workers " << e.workers << ": " << measured.mean << " " << measured.deviation << " "
                                  << measured.most) {
      BOOST_TEST(measured.mean <= e.workers - 1);
      BOOST_TEST(measured.mean > (e.workers - 1) * 0.995);
      BOOST_TEST(std::abs(measured.deviation / e.deviation - 1) < 0.1);
      BOOST_TEST(measured.most > 0.6 * static_cast<double>(e.most));
      BOOST_TEST(measured.most < 1.4 * static_cast<double>(e.most));
    }
  }
}

// The same mean where machines differ; only the spread is another one, and depends on the machines drawn.
BOOST_AUTO_TEST_CASE(machines_that_differ_spread_the_lags) {
  const Lags measured = lags({.heterogeneous = true}, 8);
  BOOST_TEST_CONTEXT(measured.mean << " " << measured.deviation << " " << measured.most) {
    BOOST_TEST(measured.mean <= 7);
    BOOST_TEST(measured.mean > 7 * 0.99);
    BOOST_TEST(measured.deviation > 2 * 1.09);
    BOOST_TEST(measured.most > 13);
  }
}

BOOST_AUTO_TEST_SUITE_END()
