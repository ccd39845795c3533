// Rules and codecs by name: every rule runs with its defaults, every option changes something, every mistake is
// answered.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "framework/core/error.h"
#include "optim/registry.h"
#include "tests/optim/bits.h"
#include "tests/optim/driver.h"

namespace {

using namespace tg;
using namespace tg::test;

std::vector<float> run(const std::string& spec) {
  const Logistic task(37);
  const auto rule = test::rule(spec);
  Driver driver(*rule, task.layout(), task.initial(), task.gradient(), constant_rate(0.05));
  for (WorkerId worker = 0; worker < (rule->sequential() ? 1 : 4); ++worker) driver.join(worker);
  arrive_at_random(driver, 60, 4);
  return values_of(driver.theta());
}

std::string refusal(const std::string& spec) {
  try {
    rule(spec);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_SUITE(registry)

BOOST_AUTO_TEST_CASE(the_rules) {
  std::vector<std::string> names;
  for (const SpecInfo& info : rule_infos()) {
    names.push_back(info.name);
    BOOST_TEST(!info.summary.empty());
    for (const OptionInfo& option : info.options) BOOST_TEST(!option.help.empty());
  }
  const std::vector<std::string> expected = {"sgd",        "ssgd",      "dc-ssgd",   "asgd",      "sa-asgd",
                                             "gap-aware",  "dc-asgd-c", "dc-asgd-a", "nag-asgd",  "lwp",
                                             "multi-asgd", "dana-zero", "dana-dc",   "dana-slim", "easgd",
                                             "eamsgd",     "local-sgd", "yellowfin", "adam"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
}

// docs/rules.md has a row for each, with a link to its page, that says whether it can be sharded and which gate it has.
BOOST_AUTO_TEST_CASE(every_rule_is_in_the_table) {
  const char* root = std::getenv("TARDYGRAD_SOURCE_ROOT");
  BOOST_REQUIRE(root != nullptr);
  std::ifstream page(std::string(root) + "/docs/rules.md");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| [`")) rows[line.substr(4, line.find('`', 4) - 4)] = line;
  BOOST_TEST(rows.size() == rule_infos().size());
  for (const SpecInfo& info : rule_infos()) {
    const auto made = rule(info.name);
    const char* gate = made->sequential() ? "one worker" : made->needs_rounds() ? "rounds" : "asynchronous";
    BOOST_TEST(rows[info.name].ends_with(fmt::format("| {} | {} |", made->shardable() ? "yes" : "no", gate)),
               info.name << ": " << rows[info.name]);
  }
}

BOOST_AUTO_TEST_CASE(defaults_as_documented) {
  const std::map<std::string, std::map<std::string, std::string>> expected = {
      {"sgd", {{"momentum", "0"}, {"nesterov", "false"}, {"weight-decay", "0"}}},
      {"ssgd", {{"momentum", "0"}, {"nesterov", "false"}, {"weight-decay", "0"}, {"backup", "0"}, {"scale", "false"}}},
      {"asgd", {{"weight-decay", "0"}}},
      {"dc-asgd-c", {{"lambda", "0.04"}, {"momentum", "0"}, {"velocity", "server"}, {"weight-decay", "0"}}},
      {"dc-asgd-a",
       {{"lambda", "2"},
        {"m", "0.95"},
        {"epsilon", "1e-07"},
        {"mean-square", "server"},
        {"momentum", "0"},
        {"velocity", "server"},
        {"weight-decay", "0"}}},
      {"dc-ssgd",
       {{"lambda", "2"},
        {"adaptive", "false"},
        {"m", "0.95"},
        {"epsilon", "1e-07"},
        {"mean-square", "server"},
        {"backup", "0"},
        {"weight-decay", "0"}}},
      {"sa-asgd", {{"momentum", "0"}, {"weight-decay", "0"}}},
      {"gap-aware", {{"momentum", "0.9"}, {"keep", "0.999"}, {"epsilon", "1e-08"}, {"weight-decay", "0"}}},
      {"nag-asgd", {{"momentum", "0.9"}, {"weight-decay", "0"}}},
      {"lwp", {{"momentum", "0.9"}, {"lag", "expected"}, {"weight-decay", "0"}}},
      {"dana-dc",
       {{"lambda", "2"},
        {"adaptive", "false"},
        {"m", "0.95"},
        {"epsilon", "1e-07"},
        {"mean-square", "server"},
        {"momentum", "0.9"},
        {"weight-decay", "0"}}},
      {"multi-asgd", {{"momentum", "0.9"}, {"weight-decay", "0"}}},
      {"dana-zero", {{"momentum", "0.9"}, {"weight-decay", "0"}}},
      {"dana-slim", {{"momentum", "0.9"}, {"weight-decay", "0"}}},
      {"easgd", {{"beta", "0.9"}, {"period", "10"}, {"weight-decay", "0"}}},
      {"eamsgd", {{"momentum", "0.99"}, {"beta", "0.9"}, {"period", "10"}, {"weight-decay", "0"}}},
      {"local-sgd", {{"period", "10"}, {"weight-decay", "0"}}},
      {"yellowfin", {{"beta", "0.999"}, {"closed-loop", "false"}, {"weight-decay", "0"}}},
      {"adam", {{"beta1", "0.9"}, {"beta2", "0.999"}, {"epsilon", "1e-08"}, {"weight-decay", "0"}}},
  };
  for (const SpecInfo& info : rule_infos()) {
    std::map<std::string, std::string> found;
    for (const OptionInfo& option : info.options) found[option.name] = option.default_value;
    BOOST_TEST_CONTEXT(info.name) { BOOST_CHECK(found == expected.at(info.name)); }
  }
}

BOOST_AUTO_TEST_CASE(what_rules_need_of_an_engine) {
  const std::set<std::string> sequential = {"sgd", "adam"}, whole = {"yellowfin"},
                              in_rounds = {"ssgd", "dc-ssgd", "local-sgd"};
  const std::set<std::string> local = {"easgd", "eamsgd", "local-sgd"};
  for (const SpecInfo& info : rule_infos()) BOOST_TEST_CONTEXT(info.name) {
      const auto rule = test::rule(info.name);
      BOOST_TEST(rule->sequential() == (sequential.count(info.name) != 0));
      BOOST_TEST(rule->shardable() == (whole.count(info.name) == 0));
      BOOST_TEST(rule->needs_rounds() == (in_rounds.count(info.name) != 0));
      BOOST_TEST(rule->batches() == (local.count(info.name) != 0 ? 10 : 1));
    }
}

BOOST_AUTO_TEST_CASE(every_option_changes_something) {
  const std::map<std::string, std::string> other = {{"momentum", "0.6"},
                                                    {"nesterov", "true"},
                                                    {"weight-decay", "0.01"},
                                                    {"backup", "1"},
                                                    {"scale", "true"},
                                                    {"lambda", "1.5"},
                                                    {"m", "0.2"},
                                                    {"epsilon", "0.1"},
                                                    {"adaptive", "true"},
                                                    {"keep", "0.5"},
                                                    {"lag", "measured"},
                                                    {"velocity", "worker"},
                                                    {"mean-square", "worker"},
                                                    {"beta", "0.5"},
                                                    {"period", "3"},
                                                    {"closed-loop", "true"},
                                                    {"beta1", "0.5"},
                                                    {"beta2", "0.9"}};
  // What an option needs to have an effect, where that is no default: a velocity, an adaptive lambda.
  const std::map<std::string, std::pair<std::string, std::string>> needs = {{"nesterov", {"momentum", "0.5"}},
                                                                            {"velocity", {"momentum", "0.5"}},
                                                                            {"m", {"adaptive", "true"}},
                                                                            {"epsilon", {"adaptive", "true"}},
                                                                            {"mean-square", {"adaptive", "true"}}};
  for (const SpecInfo& info : rule_infos()) {
    for (const OptionInfo& option : info.options) {
      std::string base = info.name;
      const auto need = needs.find(option.name);
      if (need != needs.end() && Spec::parse(info.name, rule_infos(), "rule").has(need->second.first))
        base += ":" + need->second.first + "=" + need->second.second;
      BOOST_REQUIRE_MESSAGE(other.count(option.name) == 1, option.name << " has no other value in this test");
      const std::string changed = base + (base == info.name ? ":" : ",") + option.name + "=" + other.at(option.name);
      BOOST_TEST_CONTEXT(changed) {
        const std::vector<float> without = run(base), with = run(changed);
        BOOST_TEST(!same_bits(without, with));
        // A run that diverged would differ by itself.
        for (const auto& theta : {without, with})
          BOOST_TEST(std::all_of(theta.begin(), theta.end(), [](float w) { return std::abs(w) < 100; }));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(misspelt_rules) {
  BOOST_TEST(contains(refusal("dc-asgd"), "did you mean dc-asgd-c?"));
  BOOST_TEST(contains(refusal("dana"), "did you mean dana-dc?"));
  BOOST_TEST(contains(refusal("dana_zero"), "did you mean dana-zero?"));
  BOOST_TEST(contains(refusal("multiasgd"), "did you mean multi-asgd?"));
  BOOST_TEST(contains(refusal("sdg"), "did you mean sgd?"));
  BOOST_TEST(contains(refusal("dc-asgd-a:lamda=1"), "did you mean lambda?"));
  BOOST_TEST(contains(refusal("asgd:momentum=0.9"), "it has no option 'momentum'"));
}

BOOST_AUTO_TEST_CASE(options_that_would_do_nothing) {
  BOOST_TEST(contains(refusal("dana-dc:m=0.5"), "m belongs to the adaptive lambda; add adaptive=true"));
  BOOST_TEST(contains(refusal("dc-ssgd:epsilon=0.5"), "epsilon belongs to the adaptive lambda"));
  BOOST_TEST(contains(refusal("dana-dc:mean-square=worker"), "mean-square belongs to the adaptive lambda"));
  BOOST_TEST(contains(refusal("dc-asgd-c:velocity=worker"), "without momentum there is no velocity"));
  BOOST_TEST(refusal("dana-dc:m=0.5,adaptive=true") == "");
}

BOOST_AUTO_TEST_CASE(values_out_of_range) {
  for (const char* spec : {"sgd:momentum=1",
                           "sgd:momentum=-0.1",
                           "sgd:momentum=nan",
                           "sgd:nesterov=1",
                           "sgd:weight-decay=-1",
                           "ssgd:backup=-1",
                           "ssgd:backup=1.5",
                           "ssgd:scale=linear",
                           "asgd:weight-decay=inf",
                           "dc-asgd-c:lambda=-1",
                           "dc-asgd-a:lambda=x",
                           "dc-asgd-a:m=1",
                           "dc-asgd-a:epsilon=0",
                           "dc-asgd-a:mean-square=global",
                           "multi-asgd:momentum=1",
                           "dana-zero:momentum=2",
                           "dana-zero:weight-decay=2",
                           "nag-asgd:momentum=1",
                           "lwp:lag=3",
                           "lwp:momentum=1",
                           "dana-dc:lambda=-1",
                           "dana-dc:adaptive=1",
                           "dana-dc:adaptive=true,m=1",
                           "dc-ssgd:backup=-1",
                           "dc-asgd-c:momentum=1",
                           "dc-asgd-a:velocity=both",
                           "sa-asgd:momentum=1",
                           "gap-aware:keep=1",
                           "gap-aware:epsilon=0",
                           "gap-aware:momentum=-1",
                           "dana-slim:momentum=1",
                           "dana-slim:weight-decay=-1",
                           "easgd:beta=1.1",
                           "easgd:period=0",
                           "eamsgd:period=1.5",
                           "eamsgd:momentum=1",
                           "local-sgd:period=-1",
                           "yellowfin:beta=1",
                           "yellowfin:closed-loop=1",
                           "adam:beta1=1",
                           "adam:beta2=1",
                           "adam:epsilon=0"}) {
    BOOST_TEST_CONTEXT(spec) { BOOST_TEST(contains(refusal(spec), " is not ")); }
  }
  BOOST_TEST(refusal("dana-zero:momentum=2") == "rule 'dana-zero': momentum=2 is not a number from 0 to 0.9999");
}

// One fused pass over memory per update: its bits do not depend on the number of OpenMP threads.
BOOST_AUTO_TEST_CASE(threads_change_no_bits) {
  constexpr int64_t n = 200'000;
  std::vector<float> initial(n), g(n), sent(n);
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    initial[k] = static_cast<float>(i % 977) / 977 - 0.5f;
    g[k] = static_cast<float>(i % 613) / 613 - 0.5f;
    sent[k] = static_cast<float>(i % 331) / 331 - 0.5f;
  }
  const int before = omp_get_max_threads();
  std::vector<std::string> specs = {"sgd:momentum=0.9,nesterov=true", "ssgd:momentum=0.9", "dc-asgd-a:momentum=0.9",
                                    "dana-dc:adaptive=true", "yellowfin:closed-loop=true"};
  for (const SpecInfo& info : rule_infos()) specs.push_back(info.name);
  for (const std::string& spec : specs) {
    std::vector<std::vector<float>> replies;
    for (const int threads : {1, 3}) {
      omp_set_num_threads(threads);
      const auto update = rule(spec)->update(flat_layout(n), view_of(initial));
      std::vector<float> out(n);
      update->join(0);
      for (int step = 0; step < 3; ++step) {
        update->apply(0, view_of(g), {.learning_rate = 0.1f, .sent = view_of(sent)});
        update->reply(0, Span(out.data(), n), {});
      }
      replies.push_back(out);
    }
    BOOST_TEST_CONTEXT(spec) { BOOST_TEST(same_bits(replies[0], replies[1])); }
  }
  omp_set_num_threads(before);
}

BOOST_AUTO_TEST_CASE(gates) {
  const auto gate = [](const char* spec) { return make_gate(Spec::parse(spec, gate_infos(), "gate")); };
  BOOST_TEST(!gate("async")->waits());
  const auto releases_first_of_two = [&](const char* spec) {
    const auto made = gate(spec);
    made->join(0);
    made->join(1);
    return !made->arrive(0, 0).release.empty();
  };
  BOOST_TEST(!releases_first_of_two("bsp"));
  BOOST_TEST(releases_first_of_two("bsp:backup=1"));
  BOOST_TEST(!releases_first_of_two("ssp:bound=0"));
  BOOST_TEST(releases_first_of_two("ssp"));
  BOOST_CHECK_THROW(gate("ssp:bound=-1"), Error);
  BOOST_CHECK_THROW(gate("bsp:backup=x"), Error);
  BOOST_CHECK_THROW(gate("spp"), Error);
}

BOOST_AUTO_TEST_CASE(codecs) {
  std::vector<std::string> names;
  for (const SpecInfo& info : codec_infos()) {
    names.push_back(info.name);
    BOOST_TEST(!info.summary.empty());
    for (const OptionInfo& option : info.options) BOOST_TEST(!option.help.empty());
    const auto made = make_codec(Spec::parse(info.name, codec_infos(), "codec"), flat_layout(5000));
    BOOST_TEST(made->exact() == (info.name == "none"));
    BOOST_TEST(!made->describe().empty());
  }
  const std::vector<std::string> expected = {"none",      "qsgd",       "qsgd-2bit", "qsgd-4bit",
                                             "qsgd-8bit", "qsgd-paper", "terngrad",  "onebit"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
  BOOST_CHECK_THROW(Spec::parse("qsdg", codec_infos(), "codec"), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
