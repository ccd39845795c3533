// What a rule says of a step: its terms, in their equations, add up to what apply() then does, bit for bit.
#include <map>

#include "optim/adam.h"
#include "optim/registry.h"
#include "optim/state_map.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

using Values = std::vector<float>;

struct Told : Terms {
  std::vector<std::string> names;
  std::vector<Values> values;
  void term(const std::string& name, View of) override {
    names.push_back(name);
    values.push_back(values_of(of));
  }
  // The term of this name, or the one that is called "<name> = <formula>".
  const Values& of(const std::string& name) const {
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name || names[i].starts_with(name + " = ")) return values[i];
    BOOST_FAIL("there is no term '" << name << "'");
    return values.front();
  }
};

// One message, as a test sees it.
struct Step {
  Told told;
  StepInfo info;
  Values sent, before, after;  // theta, before and after it and the replies to it
};

// What holds of the terms at each coordinate, beside what holds for every rule: value of `get(name)` by term.
using Get = std::function<float(const char*)>;
using Equation = std::function<void(const Get& get, const StepInfo& info, float before, float sent)>;

void check_same(float a, float b) { BOOST_TEST(std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b)); }

const Equation kPlain = [](const Get& get, const StepInfo& info, float, float) {
  check_same(get("step = eta (g + weight_decay theta)"), info.learning_rate * (get("g") + get("weight_decay theta")));
};

Equation with_momentum(float gamma) {
  return [gamma](const Get& get, const StepInfo& info, float before, float) {
    check_same(get("weight_decay theta"), 0.01f * before);
    check_same(get("v after"), gamma * get("v before") + (get("g") + get("weight_decay theta")));
    check_same(get("step = eta v"), info.learning_rate * get("v after"));
  };
}

void late(const Get& get, float before, float sent, float lambda, const char* name) {
  check_same(get("w - w_bak"), before - sent);
  check_same(get(name), lambda * get("g") * get("g") * get("w - w_bak"));
}

void delay_compensated(const Get& get, const StepInfo& info, float before, float sent, float lambda, const char* name) {
  check_same(get("weight_decay w"), 0.01f * before);
  late(get, before, sent, lambda, name);
  check_same(get("step"), info.learning_rate * (get("g") + get(name) + get("weight_decay w")));
}

void elastic(const Get& get, const StepInfo&, float before, float sent) {
  check_same(get("x_i at the worker"), sent - get("message"));
  check_same(get("e"), 0.9f / 4 * (get("x_i at the worker") - before));
  check_same(get("step"), -get("e"));
}

Equation compensated_with_momentum(bool adaptive) {
  return [adaptive](const Get& get, const StepInfo& info, float before, float sent) {
    late(get, before, sent, adaptive ? get("lambda_t") : 2, "compensation");
    check_same(get("weight_decay w"), 0.01f * before);
    check_same(get("v after"), 0.9f * get("v before") + (get("g") + get("compensation") + get("weight_decay w")));
    check_same(get("step = eta v"), info.learning_rate * get("v after"));
  };
}

// Of DANA's rules, with what is added to the gradient.
void dana(const Get& get, const StepInfo& info, float before, float g) {
  check_same(get("weight_decay theta"), 0.01f * before);
  check_same(get("v[i] after"), 0.9f * get("v[i] before") + (g + get("weight_decay theta")));
  check_same(get("step = eta v[i]"), info.learning_rate * get("v[i] after"));
  check_same(get("look-ahead"), 0.9f * get("S after"));
}

StepInfo at_rate(float eta, StepInfo info) {
  info.learning_rate = eta;
  return info;
}

// By rule, with which options, and the equations of its page.
struct Case {
  std::string options;
  Equation equation;
};
const std::multimap<std::string, Case> kCases = {
    {"sgd",
     {":momentum=0.9,nesterov=true,weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        with_momentum(0.9f)(get, info, before, sent);
        check_same(get("look-ahead"), 0.9f * (info.learning_rate * get("v after")));
      }}},
    {"ssgd", {":momentum=0.9,weight-decay=0.01", with_momentum(0.9f)}},
    {"dc-ssgd",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float, float sent) {
        check_same(get("compensation"), 2 * get("g") * get("g") * get("w - w_bak"));
        BOOST_TEST(std::abs(get("weight_decay w") - 0.01f * (get("w - w_bak") + sent)) < 1e-8f);
        check_same(get("eta (g + lambda_t g g (w - w_bak) + weight_decay w)"),
                   info.learning_rate * (get("g") + get("compensation") + get("weight_decay w")));
      }}},
    {"asgd", {":weight-decay=0.01", kPlain}},
    {"sa-asgd",
     {":momentum=0.9,weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        const float alpha = info.learning_rate / static_cast<float>(info.lag == 0 ? 1 : info.lag);
        with_momentum(0.9f)(get, at_rate(alpha, info), before, sent);
      }}},
    {"gap-aware",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        BOOST_TEST(get("C") > 0);
        check_same(get("Gap"), std::abs(before - sent) / get("C") + 1);
        check_same(get("g / Gap"), get("g") / get("Gap"));
        check_same(get("weight_decay theta"), 0.01f * before);
        check_same(get("v[i] after"), 0.9f * get("v[i] before") + (get("g / Gap") + get("weight_decay theta")));
        check_same(get("step = eta v[i]"), info.learning_rate * get("v[i] after"));
      }}},
    {"dc-asgd-c",
     {":lambda=2,weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        delay_compensated(get, info, before, sent, 2, "compensation = lambda g g (w - w_bak)");
      }}},
    {"dc-asgd-c", {":lambda=2,momentum=0.9,weight-decay=0.01", compensated_with_momentum(false)}},
    {"dc-asgd-a",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        check_same(get("lambda_t"), 2 / std::sqrt(get("MeanSquare") + 1e-7f));
        delay_compensated(get, info, before, sent, get("lambda_t"), "compensation = lambda_t g g (w - w_bak)");
      }}},
    {"dc-asgd-a", {":momentum=0.9,velocity=worker,weight-decay=0.01", compensated_with_momentum(true)}},
    {"nag-asgd",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        with_momentum(0.9f)(get, info, before, sent);
        check_same(get("look-ahead"), 0.9f * (info.learning_rate * get("v after")));
      }}},
    {"lwp",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        with_momentum(0.9f)(get, info, before, sent);
        check_same(get("prediction"), 3 * (info.learning_rate * get("v after")));
      }}},
    {"lwp",
     {":lag=measured,weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float, float) {
        check_same(get("prediction"), static_cast<float>(info.lag) * (info.learning_rate * get("v after")));
      }}},
    {"multi-asgd", {":weight-decay=0.01", with_momentum(0.9f)}},
    {"dana-zero",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float) { dana(get, info, before, get("g")); }}},
    {"dana-dc",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float sent) {
        late(get, before, sent, 2, "compensation");
        dana(get, info, before, get("g") + get("compensation"));
      }}},
    {"dana-slim", {":weight-decay=0.01", [](const Get& get, const StepInfo&, float, float) { get("step = u"); }}},
    {"easgd", {":period=1,weight-decay=0.01", elastic}},
    {"eamsgd", {":period=1,weight-decay=0.01", elastic}},
    {"local-sgd",
     {":period=1,weight-decay=0.01", [](const Get& get, const StepInfo&, float, float) { get("d = theta - x"); }}},
    {"yellowfin",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo&, float before, float) {
        check_same(get("weight_decay theta"), 0.01f * before);
        check_same(get("v after"), get("mu v") + (get("g") + get("weight_decay theta")));
      }}},
    {"adam",
     {":weight-decay=0.01",
      [](const Get& get, const StepInfo& info, float before, float) {
        check_same(get("weight_decay theta"), 0.01f * before);
        check_same(get("step"),
                   info.learning_rate * get("m unbiased") / (std::sqrt(get("v unbiased")) + AdamOptions().epsilon));
      }}},
};

// A run of `spec`, each message explained before it is taken in.
std::vector<Step> explained(const std::string& spec) {
  const Logistic task(37);
  const auto rule = test::rule(spec);
  Driver driver(*rule, task.layout(), task.initial(), task.gradient(), changing_rate(0.05));
  std::vector<Step> steps;
  driver.before_apply = [&](WorkerId worker, View message, const StepInfo& info) {
    if (!steps.empty()) steps.back().after = values_of(driver.theta());
    StateMap before, after;
    driver.update().save(before);
    steps.push_back({{}, info, values_of(driver.sent(worker)), values_of(driver.theta()), {}});
    driver.update().explain(worker, message, info, steps.back().told);
    driver.update().save(after);
    BOOST_CHECK(before.values() == after.values());  // nothing is changed by it
  };
  for (WorkerId worker = 0; worker < (rule->sequential() ? 1 : 4); ++worker) driver.join(worker);
  arrive_at_random(driver, 120, 4);
  steps.pop_back();  // its end was not seen
  return steps;
}

BOOST_AUTO_TEST_SUITE(terms)

BOOST_AUTO_TEST_CASE(terms_add_up_to_the_step_that_is_taken) {
  for (const SpecInfo& info : rule_infos())
    BOOST_TEST(kCases.count(info.name) > 0u, info.name << " has no equations in this test");
  for (const auto& [name, of] : kCases) {
    const bool in_rounds = test::rule(name)->needs_rounds();
    int taken = 0;
    BOOST_TEST_CONTEXT(name << of.options) {
      for (const Step& step : explained(name + of.options)) {
        // A synchronous rule takes a step with a round's last message only.
        const bool round_goes_on = in_rounds && step.before == step.after;
        taken += round_goes_on ? 0 : 1;
        const Values& told = step.told.of("step");
        for (size_t k = 0; k < told.size(); ++k) {
          of.equation([&](const char* term) { return step.told.of(term)[k]; }, step.info, step.before[k], step.sent[k]);
          if (!round_goes_on) check_same(step.after[k], step.before[k] - told[k]);
        }
      }
      BOOST_TEST(taken >= (in_rounds ? 29 : 119));
    }
  }
}

BOOST_AUTO_TEST_CASE(without_momentum_there_is_no_velocity) {
  for (const char* spec : {"sgd:weight-decay=0.01", "ssgd:weight-decay=0.01"}) {
    const Step step = explained(spec).at(20);
    BOOST_TEST(std::none_of(step.told.names.begin(), step.told.names.end(),
                            [](const std::string& name) { return name.starts_with("v "); }));
    for (size_t k = 0; k < 37; ++k)
      kPlain([&](const char* name) { return step.told.of(name)[k]; }, step.info, step.before[k], step.sent[k]);
  }
}

BOOST_AUTO_TEST_CASE(the_mean_of_a_round_grows_by_each_gradient) {
  const std::vector<Step> steps = explained("ssgd");
  for (size_t round = 0; round + 4 <= steps.size(); round += 4) {
    std::vector<double> sum(48);
    for (size_t n = 1; n <= 4; ++n) {
      const Told& told = steps[round + n - 1].told;
      BOOST_TEST(told.names[1] == fmt::format("g = (1/{0}) sum of the {0} g_i of this round so far", n));
      const Values& mean = told.of("g");
      for (size_t k = 0; k < sum.size(); ++k) {
        sum[k] += static_cast<double>(told.of("g_i")[k]);
        check_same(mean[k], static_cast<float>(sum[k] / static_cast<double>(n)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_look_ahead_is_how_far_a_worker_is_sent_from_theta) {
  for (const char* spec : {"dana-zero", "sgd:momentum=0.9,nesterov=true", "nag-asgd"}) {
    const auto rule = test::rule(spec);
    const Values initial(16, 0.5f), gradient(16, 0.25f);
    const auto update = rule->update(flat_layout(16), view_of(initial));
    Values sent(16);
    update->join(0);
    for (const float eta : {0.1f, 0.02f}) {
      Told told;
      update->explain(0, view_of(gradient), {.learning_rate = eta}, told);
      update->apply(0, view_of(gradient), {.learning_rate = eta});
      update->reply(0, Span(sent.data(), 16), {});
      check_same(sent[3], update->theta()[3] - told.of("look-ahead")[3]);
      BOOST_TEST(told.of("look-ahead")[3] > 0);
    }
  }
}

// One batch of the task, as often as it is asked for.
struct OneBatch : Oracle {
  explicit OneBatch(int64_t number) : batch(number) {}
  void gradient(View at, Span out) override { Logistic(37).gradient()(at, batch, out); }
  bool next_batch() override { return false; }
  int64_t batch;
};

StateMap state_of(const Worker& worker) {
  StateMap state;
  worker.save(state);
  return state;
}

BOOST_AUTO_TEST_CASE(terms_of_a_worker_make_its_message) {
  const Logistic task(37);
  const Values received = task.initial();
  for (const char* spec : {"dana-slim:weight-decay=0.01", "easgd:weight-decay=0.01",
                           "eamsgd:momentum=0.9,weight-decay=0.01", "local-sgd:weight-decay=0.01"}) {
    const auto worker = rule(spec)->worker(0, task.layout());
    const bool slim = std::string(spec).starts_with("dana-slim"),
               momentum = slim || std::string(spec).starts_with("eamsgd");
    for (int64_t batch = 0; batch < 3; ++batch) BOOST_TEST_CONTEXT(spec << ", batch " << batch) {
        const StepInfo info{.learning_rate = 0.1f / static_cast<float>(1 + batch)};
        Told told;
        OneBatch first(batch), again(batch);
        const StateMap before = state_of(*worker);
        worker->explain(view_of(received), info, first, told);
        BOOST_CHECK(before.values() == state_of(*worker).values());
        Values message(received.size());
        worker->work(view_of(received), info, again, {message.data(), task.layout().size()});
        for (size_t k = 0; k < 37; ++k) {
          const float decay = 0.01f * received[k], g = told.of("g")[k];
          if (momentum) check_same(told.of("v after")[k], 0.9f * told.of("v before")[k] + (g + decay));
          if (slim)
            check_same(message[k], told.of("u")[k]);
          else
            check_same(message[k], received[k] - (received[k] - told.of("step")[k]));
        }
        if (slim) BOOST_TEST(same_bits(told.of("look-ahead after"), values_of(worker->ahead())));
      }
  }
}

BOOST_AUTO_TEST_CASE(a_rule_that_says_nothing_shows_its_message) {
  struct Silent : Update {
    void apply(WorkerId, View, const StepInfo&) override {}
    View theta() const override { return {}; }
    void save(StateWriter&) const override {}
    void load(const StateReader&) override {}
  };
  Told told;
  const Values message(16, 2);
  Silent().explain(0, view_of(message), {}, told);
  BOOST_TEST(told.names == std::vector<std::string>{"message"}, boost::test_tools::per_element());
  BOOST_TEST(same_bits(told.values.front(), message));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
