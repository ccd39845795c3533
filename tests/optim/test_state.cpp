// Snapshots: save, load into a fresh object, go on, and nobody can tell.
#include "framework/core/error.h"
#include "optim/registry.h"
#include "optim/state_map.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

const Logistic kTask(37);

Driver started(const Rule& rule, int64_t gradients) {
  Driver driver(rule, kTask.layout(), kTask.initial(), kTask.gradient(), changing_rate(0.05));
  for (WorkerId worker = 0; worker < (rule.sequential() ? 1 : 4); ++worker) driver.join(worker);
  arrive_at_random(driver, gradients, 6);
  return driver;
}

// All that can be seen of a run: what was sent and theta, at each event.
void check_same(const Driver& a, const Driver& b) {
  BOOST_REQUIRE(a.log().size() == b.log().size());
  for (size_t i = 0; i < a.log().size(); ++i) {
    BOOST_TEST(same_bits(a.log()[i].sent, b.log()[i].sent));
    BOOST_TEST(same_bits(a.log()[i].theta, b.log()[i].theta));
  }
}

std::unique_ptr<Update> fresh(const Rule& rule) {
  return rule.update(kTask.layout(), view_of(std::vector<float>(static_cast<size_t>(kTask.layout().size()), 9.0f)));
}

std::string refusal(const Rule& rule, const StateMap& state) {
  try {
    fresh(rule)->load(state);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A copy of `state` without `name`.
StateMap without(const StateMap& state, const std::string& name) {
  StateMap copy;
  for (const auto& [key, value] : state.values()) {
    if (key == name) continue;
    if (const auto* floats = std::get_if<std::vector<float>>(&value))
      copy.write(key, view_of(*floats));
    else if (const auto* doubles = std::get_if<std::vector<double>>(&value))
      copy.write(key, BasicSpan<const double>(doubles->data(), static_cast<int64_t>(doubles->size())));
    else
      copy.write(key, std::get<int64_t>(value));
  }
  return copy;
}
template <class T>
StateMap with(const StateMap& state, const std::string& name, T value) {
  StateMap copy = without(state, name);
  copy.write(name, value);
  return copy;
}

BOOST_AUTO_TEST_SUITE(state)

BOOST_AUTO_TEST_CASE(a_loaded_rule_goes_on_to_the_same_bits) {
  std::vector<std::string> specs = {"sgd:momentum=0.9,nesterov=true",
                                    "ssgd:momentum=0.9,nesterov=true,backup=1,scale=true",
                                    "dc-asgd-a:mean-square=worker",
                                    "dc-asgd-a:momentum=0.9,velocity=worker",
                                    "dc-asgd-c:momentum=0.9",
                                    "dc-ssgd:adaptive=true,backup=1",
                                    "lwp:momentum=0.5,lag=measured",
                                    "sa-asgd:momentum=0.9",
                                    "dana-dc:adaptive=true,mean-square=worker",

                                    "easgd:period=1",
                                    "eamsgd:period=1",
                                    "local-sgd:period=2",
                                    "yellowfin:closed-loop=true"};
  for (const SpecInfo& info : rule_infos()) specs.push_back(info.name);
  for (const std::string& spec : specs) {
    const auto rule = test::rule(spec);
    for (const int64_t at : {0, 1, 50, 51, 53}) {  // in a round, too
      Driver undisturbed = started(*rule, at), restored = started(*rule, at);
      StateMap state;
      restored.update().save(state);
      auto update = fresh(*rule);
      update->load(state);
      restored.replace_update(std::move(update));
      for (const WorkerId id : restored.workers()) {
        StateMap of_worker;
        restored.worker(id).save(of_worker);
        auto worker = rule->worker(id, kTask.layout());
        worker->load(of_worker);
        restored.replace_worker(id, std::move(worker));
      }
      arrive_at_random(undisturbed, 100, 7);
      arrive_at_random(restored, 100, 7);
      BOOST_TEST_CONTEXT(spec << " at " << at) { check_same(undisturbed, restored); }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_loaded_rule_saves_the_same_state) {
  for (const SpecInfo& info : rule_infos()) {
    const auto rule = test::rule(info.name);
    Driver driver = started(*rule, 50);
    StateMap first, second, first_of_worker, second_of_worker;
    driver.update().save(first);
    const auto update = fresh(*rule);
    update->load(first);
    update->save(second);
    driver.worker(0).save(first_of_worker);
    const auto worker = rule->worker(0, kTask.layout());
    worker->load(first_of_worker);
    worker->save(second_of_worker);
    BOOST_TEST_CONTEXT(info.name) {
      BOOST_CHECK(first.values() == second.values());
      BOOST_CHECK(first_of_worker.values() == second_of_worker.values());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_state_of_a_worker_is_refused) {
  for (const SpecInfo& info : rule_infos()) {
    const auto rule = test::rule(info.name);
    StateMap good;
    started(*rule, 50).worker(0).save(good);
    for (const auto& [name, value] : good.values()) BOOST_TEST_CONTEXT(info.name << ": " << name) {
        BOOST_CHECK_EXCEPTION(rule->worker(0, kTask.layout())->load(without(good, name)), Error,
                              [&](const Error& e) { return contains(e.what(), "there is no '" + name + "'"); });
      }
  }
}

// After a restart workers join again; one that was there before keeps what was saved of it.
BOOST_AUTO_TEST_CASE(a_worker_that_joins_again_after_a_restart_keeps_its_state) {
  for (const char* spec : {"multi-asgd", "dana-zero", "dc-asgd-a:mean-square=worker", "gap-aware", "lwp:lag=measured",
                           "dana-dc:adaptive=true,mean-square=worker", "dc-asgd-c:momentum=0.9,velocity=worker",
                           "easgd", "yellowfin:closed-loop=true"}) {
    const auto rule = test::rule(spec);
    StateMap before, after;
    started(*rule, 50).update().save(before);
    const auto update = fresh(*rule);
    update->load(before);
    for (WorkerId worker = 0; worker < 4; ++worker) update->join(worker);
    update->save(after);
    BOOST_TEST_CONTEXT(spec) { BOOST_CHECK(before.values() == after.values()); }
  }
}

BOOST_AUTO_TEST_CASE(a_worker_that_leaves_and_comes_again_starts_at_zero) {
  const std::vector<std::pair<std::string, std::string>> kept = {
      {"multi-asgd", "velocity"},
      {"dana-zero", "velocity"},
      {"dana-dc", "velocity"},
      {"gap-aware", "velocity"},
      {"dc-asgd-c:momentum=0.9,velocity=worker", "velocity"},
      {"dc-asgd-a:mean-square=worker", "mean_square"},
      {"dana-dc:adaptive=true,mean-square=worker", "mean_square"},
      {"dc-ssgd:adaptive=true,mean-square=worker", "mean_square"}};
  for (const auto& [spec, name] : kept) {
    const auto rule = test::rule(spec);
    Driver driver = started(*rule, 50);
    driver.leave(2);
    StateMap gone, back;
    driver.update().save(gone);
    BOOST_TEST(gone.values().count(name + "/2") == 0u);
    driver.join(2);
    driver.update().save(back);
    BOOST_TEST(same_bits(std::get<std::vector<float>>(back.values().at(name + "/2")), std::vector<float>(48)));
    arrive_at_random(driver, 80, 1);  // and works on
  }
}

BOOST_AUTO_TEST_CASE(who_comes_and_goes_without_a_message_changes_no_byte) {
  std::vector<std::string> specs = {"dc-asgd-a:mean-square=worker", "yellowfin:closed-loop=true"};
  for (const SpecInfo& info : rule_infos()) specs.push_back(info.name);
  for (const std::string& spec : specs) {
    const auto rule = test::rule(spec);
    if (rule->sequential()) continue;
    for (const bool in_good_order : {false, true}) {
      Driver driver = started(*rule, 50);
      StateMap before, after;
      driver.update().save(before);
      driver.join(9);
      in_good_order ? driver.leave_in_good_order(9) : driver.leave(9);
      driver.update().save(after);
      BOOST_TEST_CONTEXT(spec) { BOOST_CHECK(before.values() == after.values()); }
    }
  }
}

BOOST_AUTO_TEST_CASE(damaged_states_are_refused) {
  const auto rule = test::rule("dana-zero");
  StateMap good;
  started(*rule, 50).update().save(good);
  BOOST_TEST(refusal(*rule, good) == "");
  for (const auto& [name, value] : good.values()) BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(contains(refusal(*rule, without(good, name)), "there is no '" + name + "'"));
    }

  const std::vector<float> short_vector(47);
  BOOST_TEST(contains(refusal(*rule, with(good, "theta", view_of(short_vector))), "47 elements, 48 were expected"));
  BOOST_TEST(contains(refusal(*rule, with(good, "theta", int64_t{3})), "'theta' is no vector of float32"));
  BOOST_TEST(
      contains(refusal(*rule, with(good, "velocity/count", int64_t{1} << 62)), "there is no 'velocity/worker/4'"));
  BOOST_TEST(contains(refusal(*rule, with(good, "velocity/worker/1", int64_t{0})), "listed twice"));
  for (const int64_t id : {int64_t{-1}, int64_t{1} << 40})
    BOOST_TEST(contains(refusal(*rule, with(good, "velocity/worker/1", id)), "no worker"));

  const auto one_for_all = test::rule("dc-asgd-a"), each = test::rule("dc-asgd-a:mean-square=worker");
  StateMap of_each;
  started(*each, 50).update().save(of_each);
  BOOST_TEST(contains(refusal(*one_for_all, of_each), "saved with another option"));

  const auto lwp = test::rule("lwp:momentum=0.5,lag=measured"), gap_aware = test::rule("gap-aware");
  StateMap lags, steps;
  started(*lwp, 50).update().save(lags);
  BOOST_TEST(contains(refusal(*lwp, with(lags, "lag/1", int64_t{-1})), "damaged"));
  started(*gap_aware, 50).update().save(steps);
  BOOST_TEST(contains(refusal(*gap_aware, with(steps, "steps", int64_t{-1})), "damaged"));

  const auto ssgd = test::rule("ssgd");
  StateMap round;
  started(*ssgd, 50).update().save(round);
  BOOST_TEST(contains(refusal(*ssgd, with(round, "taken", int64_t{0})), "damaged"));
  BOOST_TEST(contains(refusal(*ssgd, with(round, "in_round/0", int64_t{-7})), "worker -7"));
  BOOST_TEST(contains(refusal(*ssgd, good), "there is no"));  // another rule's
}

BOOST_AUTO_TEST_CASE(a_name_is_written_once) {
  StateMap state;
  state.write("n", int64_t{1});
  BOOST_CHECK_THROW(state.write("n", int64_t{2}), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
