// Workers that come and go: without a message of theirs nothing is changed, and what they leave behind is what the
// others made.
#include <cmath>

#include "optim/registry.h"
#include "optim/state_map.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

const Logistic kTask(37);

StateMap state_of(const Update& update) {
  StateMap state;
  update.save(state);
  return state;
}

// Every rule with its defaults, and options that keep something per worker.
std::vector<std::string> specs() {
  std::vector<std::string> specs = {"dc-asgd-a:mean-square=worker", "dc-asgd-c:momentum=0.9,velocity=worker",
                                    "dana-dc:adaptive=true,mean-square=worker", "lwp:momentum=0.5,lag=measured",
                                    "dc-ssgd:adaptive=true,mean-square=worker"};
  for (const SpecInfo& info : rule_infos())
    if (!rule(info.name)->sequential()) specs.push_back(info.name);
  return specs;
}

BOOST_AUTO_TEST_SUITE(membership)

// In the middle of a run, and of a round.
BOOST_AUTO_TEST_CASE(who_comes_and_goes_without_a_message_changes_no_byte) {
  for (const std::string& spec : specs()) {
    const auto rule = test::rule(spec);
    Driver driver(*rule, kTask.layout(), kTask.initial(), kTask.gradient(), changing_rate(0.05));
    for (WorkerId worker = 0; worker < 3; ++worker) driver.join(worker);
    arrive_at_random(driver, 50, 3);
    const StateMap before = state_of(driver.update());
    const std::vector<float> theta = values_of(driver.theta());
    driver.update().join(7);
    driver.update().join(5);
    driver.update().leave(7);
    BOOST_TEST_CONTEXT(spec) {
      BOOST_TEST(same_bits(driver.theta(), view_of(theta)));
      driver.update().leave(5);
      BOOST_CHECK(state_of(driver.update()).values() == before.values());
    }
  }
}

// One that left is forgotten: what the server keeps has no place of his.
BOOST_AUTO_TEST_CASE(nothing_is_kept_of_one_that_left) {
  for (const std::string& spec : specs()) {
    const auto rule = test::rule(spec);
    Driver driver(*rule, kTask.layout(), kTask.initial(), kTask.gradient(), changing_rate(0.05));
    for (WorkerId worker = 0; worker < 3; ++worker) driver.join(worker);
    arrive_at_random(driver, 51, 3);
    const std::vector<float> theta = values_of(driver.theta());
    driver.update().leave(2);
    const StateMap state = state_of(driver.update());
    BOOST_TEST_CONTEXT(spec) {
      BOOST_TEST(same_bits(driver.theta(), view_of(theta)));  // what he has done stays done
      for (const auto& [name, value] : state.values())
        BOOST_TEST(
            (name.starts_with("in_round") || !name.ends_with("/2") || name.find("/worker/") != std::string::npos),
            name);
    }
  }
}

// The sum that DANA looks ahead by is that of the velocities that are left, each with its rate.
BOOST_AUTO_TEST_CASE(a_sum_of_velocities_is_that_of_the_workers_that_are_left) {
  for (const char* spec : {"dana-zero", "dana-dc", "dana-dc:adaptive=true,mean-square=worker"}) {
    const auto rule = test::rule(spec);
    Driver driver(*rule, kTask.layout(), kTask.initial(), kTask.gradient(), changing_rate(0.05));
    for (WorkerId worker = 0; worker < 5; ++worker) driver.join(worker);
    arrive_at_random(driver, 100, 3);
    for (const WorkerId gone : {3, 0, 4}) {
      driver.leave(gone);
      const StateMap state = state_of(driver.update());
      const auto& sum = std::get<std::vector<double>>(state.values().at("steps"));
      double worst = 0, largest = 0;
      for (size_t k = 0; k < 37; ++k) {
        double left = 0;
        for (WorkerId worker = 0; worker < 5; ++worker) {
          const std::string id = std::to_string(worker);
          if (state.values().count("velocity/" + id) == 0) continue;
          const float rate = std::get<std::vector<float>>(state.values().at("rate/" + id))[0];
          left += double{rate * std::get<std::vector<float>>(state.values().at("velocity/" + id))[k]};
        }
        worst = std::max(worst, std::abs(sum[k] - left));
        largest = std::max(largest, std::abs(left));
      }
      BOOST_TEST_CONTEXT(spec << " without " << gone) {
        BOOST_TEST(worst < 1e-15);
        BOOST_TEST(largest > 1e-4);
      }
      arrive_at_random(driver, driver.accepted() + 20, 4);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
