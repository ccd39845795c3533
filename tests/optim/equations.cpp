#include "tests/optim/equations.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "optim/state_map.h"
#include "tests/optim/bits.h"

namespace tg::test {
namespace {

constexpr int64_t kGradients = 240;

using Values = std::map<std::string, double>;

// The first coordinate of each vector, and all numbers but those that list workers.
void add_state(Values& to, const std::string& prefix, const StateMap& state) {
  for (const auto& [name, value] : state.values()) {
    if (const auto* floats = std::get_if<std::vector<float>>(&value))
      to[prefix + name] = floats->empty() ? 0 : static_cast<double>(floats->front());
    else if (const auto* doubles = std::get_if<std::vector<double>>(&value))
      to[prefix + name] = doubles->empty() ? 0 : doubles->front();
    else if (name.find("/worker/") == std::string::npos && !name.ends_with("/count"))
      to[prefix + name] = static_cast<double>(std::get<int64_t>(value));
  }
}

Values server_state(const Update& update) {
  StateMap state;
  update.save(state);
  Values found;
  add_state(found, "", state);
  return found;
}

Values state_of(Driver& driver) {
  Values found = server_state(driver.update());
  for (const WorkerId worker : driver.workers()) {
    StateMap state;
    driver.worker(worker).save(state);
    add_state(found, fmt::format("worker {}: ", worker), state);
  }
  return found;
}

void check_same(const Values& found, const Values& expected, double tolerance) {
  BOOST_TEST(found.size() == expected.size());
  for (const auto& [name, value] : found) BOOST_TEST_CONTEXT(name) {
      BOOST_REQUIRE(expected.count(name) == 1);
      BOOST_TEST(std::abs(value - expected.at(name)) < tolerance * std::max(1.0, std::abs(value)));
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
  std::vector<Values> before;  // of each message, what the server keeps
  driver.before_apply = [&](WorkerId, View, const StepInfo&) { before.push_back(server_state(driver.update())); };
  for (WorkerId worker = 0; worker < (rule->sequential() ? 1 : kEquationWorkers); ++worker) driver.join(worker);
  arrive_at_random(driver, kGradients, 5);

  double sent[kEquationWorkers] = {}, worst = 0, moved = 0;
  int64_t taken = 0, taken_when_sent[kEquationWorkers] = {};
  std::set<float> rates;
  for (const Logged& event : driver.log()) {
    if (event.kind == Logged::Kind::sent) {
      sent[event.worker] = equations.reply(event.worker);
      taken_when_sent[event.worker] = taken;
      worst =
          std::max({worst, std::abs(sent[event.worker] - event.sent[0]), std::abs(equations.theta - event.theta[0])});
      moved = std::max(moved, std::abs(equations.theta - 0.7));
      rates.insert(event.learning_rate);
    } else if (event.kind == Logged::Kind::taken) {
      BOOST_TEST_CONTEXT(spec << ", message " << taken) {
        if (equations.state_before_each)
          check_same(before.at(static_cast<size_t>(taken)), equations.state(), equations.state_tolerance);
      }
      equations.message(event.worker, event.batch, sent[event.worker],
                        {.learning_rate = event.learning_rate,
                         .peak_learning_rate = schedule.peak(),
                         .lag = taken - taken_when_sent[event.worker]});
      ++taken;
    }
  }
  BOOST_TEST_CONTEXT(spec) {
    BOOST_TEST(worst < kEquationTolerance);
    BOOST_TEST(moved > 0.05);       // the run went somewhere
    BOOST_TEST(rates.size() > 5u);  // at rates that changed
    if (!equations.state().empty()) check_same(state_of(driver), equations.state(), equations.state_tolerance);
  }
}

}  // namespace tg::test
