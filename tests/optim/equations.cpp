#include "tests/optim/equations.h"

#include <cmath>
#include <set>

#include "optim/state_map.h"
#include "tests/optim/bits.h"

namespace tg::test {
namespace {

constexpr int64_t kGradients = 240;
constexpr double kTolerance = 2e-6;  // float32 against double over 240 steps; values are near 1

// The first coordinate of each vector, and all numbers but those that list workers.
void add_state(std::map<std::string, double>& to, const std::string& prefix, const StateMap& state) {
  for (const auto& [name, value] : state.values()) {
    if (const auto* floats = std::get_if<std::vector<float>>(&value))
      to[prefix + name] = floats->empty() ? 0 : static_cast<double>(floats->front());
    else if (const auto* doubles = std::get_if<std::vector<double>>(&value))
      to[prefix + name] = doubles->empty() ? 0 : doubles->front();
    else if (name.find("/worker/") == std::string::npos && !name.ends_with("/count"))
      to[prefix + name] = static_cast<double>(std::get<int64_t>(value));
  }
}

void check_state(Driver& driver, const std::map<std::string, double>& expected) {
  std::map<std::string, double> found;
  StateMap server;
  driver.update().save(server);
  add_state(found, "", server);
  for (const WorkerId worker : driver.workers()) {
    StateMap state;
    driver.worker(worker).save(state);
    add_state(found, fmt::format("worker {}: ", worker), state);
  }
  BOOST_TEST(found.size() == expected.size());
  for (const auto& [name, value] : found) BOOST_TEST_CONTEXT(name) {
      BOOST_REQUIRE(expected.count(name) == 1);
      BOOST_TEST(std::abs(value - expected.at(name)) < kTolerance * std::max(1.0, std::abs(value)));
    }
}

}  // namespace

void check(const std::string& spec, Equations&& equations) {
  const auto rule = test::rule(spec);
  const Gradient gradient = [](View at, int64_t batch, Span out) {
    std::fill(out.begin(), out.end(), 0.0f);
    out[0] = slope(at[0], batch);
  };
  std::vector<float> initial(16);
  initial[0] = 0.7f;
  const Schedule schedule = changing_rate(0.05);
  Driver driver(*rule, flat_layout(1), initial, gradient, schedule);
  for (WorkerId worker = 0; worker < (rule->sequential() ? 1 : kEquationWorkers); ++worker) driver.join(worker);
  arrive_at_random(driver, kGradients, 5);

  double sent[kEquationWorkers] = {}, worst = 0, moved = 0;
  std::set<float> rates;
  for (const Logged& event : driver.log()) {
    if (event.kind == Logged::Kind::sent) {
      sent[event.worker] = equations.reply(event.worker);
      worst =
          std::max({worst, std::abs(sent[event.worker] - event.sent[0]), std::abs(equations.theta - event.theta[0])});
      moved = std::max(moved, std::abs(equations.theta - 0.7));
      rates.insert(event.learning_rate);
    } else if (event.kind == Logged::Kind::taken) {
      equations.message(event.worker, event.batch, sent[event.worker],
                        {.learning_rate = event.learning_rate, .peak_learning_rate = schedule.peak()});
    }
  }
  BOOST_TEST_CONTEXT(spec) {
    BOOST_TEST(worst < kTolerance);
    BOOST_TEST(moved > 0.05);       // the run went somewhere
    BOOST_TEST(rates.size() > 5u);  // at rates that changed
    const std::map<std::string, double> state = equations.state();
    if (!state.empty()) check_state(driver, state);
  }
}

}  // namespace tg::test
