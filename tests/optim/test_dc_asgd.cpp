// DC-ASGD: its one-step numbers, and what a late gradient is compared with.
#include <cmath>
#include <map>
#include <set>

#include "optim/dc_asgd.h"
#include "optim/registry.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"
#include "tests/optim/sent_check.h"

namespace {

using namespace tg;
using namespace tg::test;

BOOST_AUTO_TEST_SUITE(dc_asgd)

// w = 1, w_bak = 0.5, g = 2, eta = 0.1.
float one_step(const std::string& spec) {
  std::vector<float> w(16, 1.0f), w_bak(16, 0.5f), g(16, 2.0f);
  const auto update = rule(spec)->update(flat_layout(16), view_of(w));
  update->join(0);
  update->apply(0, view_of(g), {.learning_rate = 0.1f, .sent = view_of(w_bak)});
  return update->theta()[15];
}

BOOST_AUTO_TEST_CASE(one_step_numbers) {
  BOOST_TEST(one_step("dc-asgd-c:lambda=0.04") == 0.792f, boost::test_tools::tolerance(1e-6f));
  for (const char* where : {"server", "worker"}) {
    const std::string spec = std::string("dc-asgd-a:lambda=2,m=0.95,epsilon=1e-7,mean-square=") + where;
    BOOST_TEST(std::abs(one_step(spec) - -0.09443f) < 5e-6f);
  }
}

BOOST_AUTO_TEST_CASE(without_memory_the_compensation_is_linear_in_the_gradient) {
  // m = 0 and a small epsilon: g + lambda |g| (w - w_bak).
  BOOST_TEST(one_step("dc-asgd-a:lambda=2,m=0,epsilon=1e-20") == 1 - 0.1f * (2 + 2 * 2 * 0.5f),
             boost::test_tools::tolerance(1e-6f));
}

// The gradient of batch b is 1 + b everywhere.
void counting_gradient(View, int64_t batch, Span out) {
  std::fill(out.begin(), out.end(), 1.0f + static_cast<float>(batch));
}

BOOST_AUTO_TEST_CASE(the_first_comparison_is_with_w_0) {
  const auto rule = test::rule("dc-asgd-c:lambda=0.5");
  Driver driver(*rule, flat_layout(16), std::vector<float>(16, 3.0f), counting_gradient, constant_rate(0.25));
  driver.join(0);
  driver.join(1);
  // Worker 0: batch 0, g = 1, and w is still w_0 = 3.
  driver.arrive(0);
  BOOST_TEST(driver.theta()[0] == 3 - 0.25f * 1);
  // Worker 1: batch 1, g = 2, sent w_0: 2.75 - 0.25 (2 + 0.5 * 4 * (2.75 - 3)).
  driver.arrive(1);
  BOOST_TEST(driver.theta()[0] == 2.75f - 0.25f * (2 + 0.5f * 4 * -0.25f));
}

BOOST_AUTO_TEST_CASE(the_comparison_is_with_what_was_sent_last) {
  const auto rule = test::rule("dc-asgd-c:lambda=0.5");
  Driver driver(*rule, flat_layout(16), std::vector<float>(16, 3.0f), counting_gradient, constant_rate(0.25));
  driver.join(0);
  driver.join(1);
  driver.arrive(0);  // w = 2.75, which worker 0 is sent with batch 2
  driver.arrive(1);  // w = 2.375, sent to worker 1
  driver.arrive(0);  // g = 3, sent 2.75
  BOOST_TEST(driver.theta()[0] == 2.375f - 0.25f * (3 + 0.5f * 9 * (2.375f - 2.75f)));
}

// Four workers at delays 1, 3, 7 and 20: each is compared with the very vector that it was sent.
BOOST_AUTO_TEST_CASE(four_workers_at_delays_1_3_7_and_20) {
  const Logistic task(37);
  for (const char* spec : {"dc-asgd-c:lambda=2", "dc-asgd-a"}) {
    const auto inner = test::rule(spec);
    const SentCheck rule(*inner);
    Driver driver(rule, task.layout(), task.initial(), task.gradient(), constant_rate(0.05));
    for (WorkerId worker = 0; worker < 4; ++worker) driver.join(worker);
    arrive_after(driver, {1, 3, 7, 20}, 300);
    BOOST_TEST(rule.checked() == 300);
    std::map<WorkerId, int> taken;
    for (const Logged& event : driver.log()) taken[event.worker] += event.kind == Logged::Kind::taken;
    BOOST_TEST(taken[0] > 2.5 * taken[1]);
    BOOST_TEST(taken[3] >= 8);
  }
}

// The same arrivals with the backups of the paper, kept by the transcription itself, in double.
BOOST_AUTO_TEST_CASE(four_workers_against_a_transcription_with_backups) {
  const auto rule = test::rule("dc-asgd-c:lambda=2");
  const auto slope = [](double w, int64_t batch) {
    const double target = static_cast<double>(batch * 37 % 11) / 5 - 1;
    return std::tanh(w - target);
  };
  const Gradient gradient = [&](View at, int64_t batch, Span out) {
    std::fill(out.begin(), out.end(), static_cast<float>(slope(at[0], batch)));
  };
  Driver driver(*rule, flat_layout(16), std::vector<float>(16, 2.0f), gradient, constant_rate(0.05));
  for (WorkerId worker = 0; worker < 4; ++worker) driver.join(worker);
  arrive_after(driver, {1, 3, 7, 20}, 300);

  const double lambda = 2, eta = 0.05;
  double w = 2, w_bak[4] = {2, 2, 2, 2}, worst = 0;
  for (const Logged& event : driver.log()) {
    const int m = event.worker;
    if (event.kind == Logged::Kind::sent) {
      w_bak[m] = w;
    } else {
      const double g = slope(w_bak[m], event.batch);
      w -= eta * (g + lambda * g * g * (w - w_bak[m]));
    }
    worst = std::max(worst, std::abs(w - event.theta[0]));
  }
  BOOST_TEST(worst < 2e-6);
}

BOOST_AUTO_TEST_CASE(an_engine_that_keeps_nothing_is_told) {
  const auto update = rule("dc-asgd-c")->update(flat_layout(16), view_of(std::vector<float>(16)));
  BOOST_CHECK_THROW(update->apply(0, view_of(std::vector<float>(16)), {.learning_rate = 0.1f}), Error);
}

BOOST_AUTO_TEST_CASE(only_these_rules_ask_for_what_was_sent) {
  const std::set<std::string> asking = {"dc-asgd-c", "dc-asgd-a", "dc-ssgd", "dana-dc", "gap-aware"};
  for (const SpecInfo& info : rule_infos())
    BOOST_TEST(rule(info.name)->needs_sent() == (asking.count(info.name) != 0), info.name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
