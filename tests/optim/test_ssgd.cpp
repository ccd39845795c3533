// Synchronous rounds: what is averaged, when theta changes, and who is counted.
#include "optim/registry.h"
#include "optim/ssgd.h"
#include "optim/state_map.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

// The gradient of batch b is 1 + b everywhere.
void counting_gradient(View, int64_t batch, Span out) {
  std::fill(out.begin(), out.end(), 1.0f + static_cast<float>(batch));
}

Driver counting_driver(const Rule& rule, int workers) {
  Driver driver(rule, flat_layout(16), std::vector<float>(16), counting_gradient, constant_rate(1));
  for (WorkerId worker = 0; worker < workers; ++worker) driver.join(worker);
  return driver;
}

BOOST_AUTO_TEST_SUITE(ssgd)

BOOST_AUTO_TEST_CASE(theta_changes_between_rounds_only) {
  const Ssgd rule;
  Driver driver = counting_driver(rule, 4);
  for (const WorkerId worker : {2, 0, 3}) {
    driver.arrive(worker);
    BOOST_TEST(driver.theta()[0] == 0.0f);
  }
  driver.arrive(1);
  BOOST_TEST(driver.theta()[0] == -2.5f);  // the mean of 1, 2, 3, 4
  for (const WorkerId worker : {0, 1, 2, 3}) BOOST_TEST(driver.sent(worker)[0] == -2.5f);
}

// All workers compute the same gradient: the step is the one that a single worker makes, bit for bit.
BOOST_AUTO_TEST_CASE(equal_workers_step_as_one) {
  const Logistic task(37);
  const Gradient noisy = task.gradient();
  const Gradient same = [&](View at, int64_t, Span out) { noisy(at, 7, out); };
  for (const char* options : {"", ":momentum=0.9,nesterov=true,weight-decay=0.01"}) {
    const auto sgd = rule(std::string("sgd") + options);
    Driver one(*sgd, task.layout(), task.initial(), same, constant_rate(0.1));
    one.join(0);
    arrive_at_random(one, 20, 1);
    for (const int workers : {1, 2, 3, 7}) {
      const auto ssgd = rule(std::string("ssgd") + options);
      Driver many(*ssgd, task.layout(), task.initial(), same, constant_rate(0.1));
      for (WorkerId worker = 0; worker < workers; ++worker) many.join(worker);
      arrive_at_random(many, 20 * workers, 1);
      BOOST_TEST_CONTEXT(options << " with " << workers) { BOOST_TEST(same_bits(one.theta(), many.theta())); }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_order_of_arrivals_changes_nothing) {
  const Logistic task(37);
  const auto ssgd = rule("ssgd:momentum=0.9");
  std::vector<std::vector<float>> results;
  for (const uint64_t seed : {1, 2, 3}) {
    Driver driver(*ssgd, task.layout(), task.initial(), task.gradient(), changing_rate(0.1));
    for (WorkerId worker = 0; worker < 5; ++worker) driver.join(worker);
    arrive_at_random(driver, 200, seed);
    results.push_back(values_of(driver.theta()));
  }
  BOOST_TEST(same_bits(results[0], results[1]));
  BOOST_TEST(same_bits(results[0], results[2]));
}

BOOST_AUTO_TEST_CASE(linear_scaling_multiplies_the_rate) {
  SsgdOptions options;
  options.linear_scaling = true;
  const Ssgd rule(options);
  Driver driver = counting_driver(rule, 4);
  arrive_in_turn(driver, 4, 1);
  BOOST_TEST(driver.theta()[0] == -10.0f);  // 4 times the mean
}

// Goyal's warm-up: the rate of a round begins at that of one worker and grows to N times as much.
BOOST_AUTO_TEST_CASE(scaled_rates_warm_up_from_the_rate_of_one) {
  const auto ssgd = rule("ssgd:scale=true");
  const Gradient ones = [](View, int64_t, Span out) { std::fill(out.begin(), out.end(), 1.0f); };
  Driver driver(*ssgd, flat_layout(16), std::vector<float>(16), ones,
                Schedule({.peak = 1, .warmup = 8, .warmup_start = 0.25}));
  for (WorkerId worker = 0; worker < 4; ++worker) driver.join(worker);
  float before = 0;
  for (const float step : {1.0f, 2.5f, 4.0f, 4.0f}) {
    arrive_in_turn(driver, 4, 1);
    BOOST_TEST(before - driver.theta()[0] == step);
    before = driver.theta()[0];
  }
}

BOOST_AUTO_TEST_CASE(late_backup_workers_are_not_in_the_mean) {
  SsgdOptions options;
  options.backup = 1;
  const Ssgd rule(options);
  Driver driver = counting_driver(rule, 3);
  driver.arrive(0);                        // batch 0: 1
  driver.arrive(1);                        // batch 1: 2
  BOOST_TEST(driver.theta()[0] == -1.5f);  // 1/2, not 1/3
  driver.arrive(2);                        // refused, and given batch 5
  BOOST_TEST(driver.theta()[0] == -1.5f);
  BOOST_TEST(driver.accepted() == 2);
  driver.arrive(0);  // batch 3: 4
  BOOST_TEST(driver.theta()[0] == -1.5f);
  driver.arrive(2);  // batch 5: 6
  BOOST_TEST(driver.theta()[0] == -6.5f);
}

// A reply to one who joins or comes late must not close the round that others are in.
BOOST_AUTO_TEST_CASE(a_worker_that_joins_is_sent_the_round_as_it_is) {
  const Ssgd rule;
  Driver driver = counting_driver(rule, 2);
  driver.arrive(0);  // batch 0: 1
  driver.join(2);    // given batch 2
  BOOST_TEST(driver.sent(2)[0] == 0.0f);
  BOOST_TEST(driver.theta()[0] == 0.0f);
  driver.arrive(1);  // batch 1: 2
  driver.arrive(2);  // 3
  BOOST_TEST(driver.theta()[0] == -2.0f);
}

BOOST_AUTO_TEST_CASE(what_the_dead_have_sent_still_counts) {
  const Ssgd rule;
  Driver driver = counting_driver(rule, 3);
  driver.arrive(0);  // 1
  driver.leave(0);
  driver.arrive(2);  // 3
  BOOST_TEST(driver.theta()[0] == 0.0f);
  driver.leave(1);  // it was what the round waited for
  BOOST_TEST(driver.theta()[0] == -2.0f);
  BOOST_CHECK(driver.working() == std::vector<WorkerId>{2});
}

BOOST_AUTO_TEST_CASE(one_that_comes_again_does_not_close_the_round) {
  const Ssgd rule;
  Driver driver = counting_driver(rule, 2);
  driver.arrive(0);  // 1
  driver.leave(0);
  driver.join(0);  // given batch 2
  BOOST_TEST(driver.theta()[0] == 0.0f);
  driver.arrive(0);  // 3
  driver.arrive(1);  // 2
  BOOST_TEST(driver.theta()[0] == -2.0f);
}

// After a restart in the middle of a round all workers join again: none of them closes the round by its first reply.
BOOST_AUTO_TEST_CASE(a_restart_does_not_close_the_round) {
  const Ssgd rule;
  Driver before = counting_driver(rule, 2);
  before.arrive(0);  // 1
  StateMap state;
  before.update().save(state);
  Driver after = counting_driver(rule, 0);
  after.update().load(state);
  after.join(0);  // given batch 0
  after.join(1);  // given batch 1
  BOOST_TEST(after.theta()[0] == 0.0f);
  after.arrive(0);                                               // 1
  after.arrive(1);                                               // 2
  BOOST_TEST(after.theta()[0] == -static_cast<float>(4.0 / 3));  // of the message before the restart, too
}

// One that joins late is told another rate, since gradients have been accepted since: the round's rate is their mean.
BOOST_AUTO_TEST_CASE(the_rate_of_a_round_is_the_mean_of_those_told) {
  const Ssgd rule;
  Driver driver(rule, flat_layout(16), std::vector<float>(16), counting_gradient,
                Schedule({.peak = 2, .drops = {1}, .factor = 0.5}));
  driver.join(0);
  driver.join(1);
  driver.arrive(0);  // rate 2, gradient 1
  driver.join(2);    // told 1; gradient 3
  driver.arrive(1);  // rate 2, gradient 2
  driver.arrive(2);
  BOOST_TEST(driver.theta()[0] == -static_cast<float>(5.0 / 3) * 2);
}

BOOST_AUTO_TEST_CASE(no_message_is_late) {
  const auto ssgd = rule("ssgd");
  const auto update = ssgd->update(flat_layout(16), view_of(std::vector<float>(16)));
  update->apply(0, view_of(std::vector<float>(16)), {});
  BOOST_TEST(!update->theta_changed());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
