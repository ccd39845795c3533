#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dist/history/event_log.h"
#include "optim/registry.h"
#include "tests/launch/program.h"

namespace fs = std::filesystem;
using namespace tg;
using nlohmann::json;

namespace {

// A run that every case below asks about.
struct Run {
  TemporaryFolder folder;
  EventLog log;
  explicit Run(const std::string& options = "--rule dc-asgd-a --workers 4 --lr 0.02 --exact-gap") {
    BOOST_REQUIRE(run_in(folder, "train --epochs 1 --out r " + options + kQuick).status == 0);
    log = read_event_logs(folder / "r").front();
  }
  // Message number `update` of those that were taken in.
  Event message(int64_t update) const {
    for (const Event& event : log.events)
      if (event.kind == Event::Kind::arrive && event.taken && update-- == 0) return event;
    BOOST_FAIL("no such update");
    return {};
  }
  std::string text(const std::string& options) const {
    const Outcome outcome = run_in(folder, "explain r " + options);
    BOOST_TEST(outcome.status == 0);
    BOOST_TEST(outcome.err == "");
    return outcome.out;
  }
  json explained(const std::string& options) const { return json::parse(text(options + " --json")); }
};

json term(const json& explained, const std::string& name) {
  for (const json& t : explained["terms"])
    if (t["name"] == name || t["name"].get<std::string>().starts_with(name + " = ")) return t;
  BOOST_FAIL("no term " << name);
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(explain)

BOOST_AUTO_TEST_CASE(who_sent_what_and_the_terms_of_the_formula) {
  const Run run;
  const json all = run.explained("--update 20");
  const Event message = run.message(20);
  BOOST_TEST(all["run"] == "r");
  BOOST_TEST(all["rule"] == "dc-asgd-a");
  BOOST_TEST(all["update"] == 20);
  BOOST_TEST(all["worker"] == message.worker);
  BOOST_TEST(all["batch"] == message.batch);
  BOOST_TEST(all["loss"] == message.loss);
  BOOST_TEST(all["time"] == message.time);
  BOOST_TEST(all["learning_rate"].get<float>() == 0.02f);
  BOOST_TEST(all["lag"].get<int>() >= 1);
  BOOST_TEST(all["gap"].get<double>() > 0);

  std::vector<std::string> names;
  for (const json& t : all["terms"]) names.push_back(t["name"]);
  const std::vector<std::string> expected = {"g",
                                             "w - w_bak",
                                             "MeanSquare",
                                             "lambda_t = lambda_0 / sqrt(MeanSquare + epsilon)",
                                             "compensation = lambda_t g g (w - w_bak)",
                                             "weight_decay w",
                                             "step = eta (g + lambda_t g g (w - w_bak) + weight_decay w)"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
  BOOST_TEST(all["worker_terms"] == json::array());  // its message is the gradient
  for (const json& t : all["terms"]) {
    BOOST_TEST(t["coordinates"].size() == 5u);
    double before = t["largest"];
    double squares = 0;
    BOOST_TEST(before == std::abs(t["coordinates"][0]["value"].get<double>()));
    for (const json& c : t["coordinates"]) {
      const double value = std::abs(c["value"].get<double>());
      BOOST_TEST(value <= before);
      before = value;
      squares += value * value;
    }
    BOOST_TEST(std::sqrt(squares) <= t["norm"].get<double>() * (1 + 1e-12));
  }
  // The gap is the norm of w - w_bak, over the parameters.
  constexpr double kParameters = 784 * 16 + 16 + 16 * 10 + 10;
  BOOST_TEST(term(all, "w - w_bak")["norm"].get<double>() / std::sqrt(kParameters) == all["gap"].get<double>(),
             boost::test_tools::tolerance(1e-5));
  BOOST_TEST(term(all, "weight_decay w")["norm"] == 0.0);
}

BOOST_AUTO_TEST_CASE(a_worker_counts_its_own_updates) {
  const Run run;
  const json all = run.explained("--update 20");
  const std::string own = "--worker " + all["worker"].dump() + " --update " + all["update_of_worker"].dump();
  BOOST_TEST(run.explained(own) == all);
  int64_t earlier = 0;
  for (int64_t update = 0; update < 20; ++update) earlier += run.message(update).worker == run.message(20).worker;
  BOOST_TEST(all["update_of_worker"] == earlier);
}

BOOST_AUTO_TEST_CASE(one_tensor_alone) {
  const Run run;
  const json all = run.explained("--update 20"), alone = run.explained("--update 20 --parameter fc2.bias");
  double squares = 0;
  for (const std::string parameter : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}) {
    const json of = run.explained("--update 20 --parameter " + parameter);
    for (const json& t : of["terms"])
      for (const json& c : t["coordinates"]) BOOST_TEST(c["parameter"] == parameter);
    squares += std::pow(term(of, "g")["norm"].get<double>(), 2);
  }
  BOOST_TEST(std::sqrt(squares) == term(all, "g")["norm"].get<double>(), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(term(alone, "g")["coordinates"][0]["index"].size() == 1u);
  BOOST_TEST(alone["loss"] == all["loss"]);
}

BOOST_AUTO_TEST_CASE(as_text) {
  const Run run;
  const std::string text = run.text("--update 20");
  const Event message = run.message(20);
  BOOST_TEST(text.rfind("update 20 of dc-asgd-a with 4 workers on mlp:hidden=16\nworker ", 0) == 0u);
  BOOST_TEST(contains(text, "batch " + std::to_string(message.batch) + ", lag "));
  BOOST_TEST(contains(text, "\ncompensation = lambda_t g g (w - w_bak)\n    2-norm "));
  BOOST_TEST(contains(text, "\nweight_decay w\n    zero everywhere\n"));
  BOOST_TEST(contains(text, " fc1.weight["));
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    BOOST_TEST(end - begin <= 100u);
    begin = end + 1;
  }
  BOOST_TEST(run.text("--update 20") == text);
}

BOOST_AUTO_TEST_CASE(a_worker_that_computes_more_than_a_gradient_has_terms_of_its_own) {
  for (const std::string engine : {"simulate", "threads --shards 2"}) {
    const Run run("--rule dana-slim --workers 3 --lr 0.02 --engine " + engine);
    const json all = run.explained("--update 20");
    std::vector<std::string> names;
    for (const json& t : all["worker_terms"]) names.push_back(t["name"]);
    BOOST_REQUIRE(names.size() == 8u);
    BOOST_TEST(names.front() == "g");
    BOOST_TEST(names.back() == "u = eta v + gamma (eta v - eta_old v_old)");
    // What the worker sent is the step that the server makes.
    const json &sent = all["worker_terms"].back(), step = term(all, "step");
    BOOST_TEST(sent["norm"].get<double>() == step["norm"].get<double>(), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(sent["coordinates"] == step["coordinates"]);

    const std::string text = run.text("--update 20");
    const size_t worker = text.find("\n\nworker:\n\ng\n    2-norm "), server = text.find("\n\nserver:\n\n");
    BOOST_REQUIRE(worker != std::string::npos);
    BOOST_REQUIRE(server != std::string::npos);
    BOOST_TEST(worker < text.find("\nu = eta v"));
    BOOST_TEST(text.find("\nu = eta v") < server);
    const json bias = run.explained("--update 20 --parameter fc2.bias");
    BOOST_TEST(bias["worker_terms"].back()["coordinates"][0]["parameter"] == "fc2.bias");
  }
}

BOOST_AUTO_TEST_CASE(of_a_local_loop_the_first_step_is_told) {
  const Run run("--rule easgd:period=4 --workers 2 --lr 0.02");
  const std::string text = run.text("--update 3");
  BOOST_TEST(contains(text, "\n\nworker, the first of its 4 steps:\n\ng\n    2-norm "));
  BOOST_TEST(contains(text, "\n\nserver:\n\n"));
}

BOOST_AUTO_TEST_CASE(every_rule) {
  for (const SpecInfo& info : rule_infos()) BOOST_TEST_CONTEXT(info.name) {
      const Run run("--workers 3 --rule " + info.name);
      const int update = static_cast<int>(17 / make_rule(Spec::parse(info.name, rule_infos(), "rule"))->batches());
      const json all = run.explained("--update " + std::to_string(update));
      BOOST_TEST(term(all, "step")["norm"].get<double>() > 0);
      BOOST_TEST(all["batch"] == run.message(update).batch);
    }
}

BOOST_AUTO_TEST_CASE(a_run_that_was_killed_is_explained_as_far_as_it_goes) {
  const Run run;
  // The header and two whole blocks of at most 128 events.
  const auto bytes = fs::file_size(run.folder / "r/events.bin");
  fs::resize_file(run.folder / "r/events.bin", bytes - 10);
  const auto log = read_event_log(run.folder / "r/events.bin");
  BOOST_REQUIRE(log.unfinished_bytes > 0);
  const int64_t left = std::count_if(log.events.begin(), log.events.end(),
                                     [](const Event& event) { return event.kind == Event::Kind::arrive; });
  BOOST_REQUIRE(left > 0);
  BOOST_TEST(run.explained("--update " + std::to_string(left - 1))["update"] == left - 1);
  const Outcome beyond = run_in(run.folder, "explain r --update " + std::to_string(left));
  BOOST_TEST(contains(beyond.err, "the run has " + std::to_string(left) + " updates"));
}

BOOST_AUTO_TEST_CASE(a_replay_that_differs_is_no_explanation) {
  const Run run;
  fs::remove(run.folder / "r/events.bin");
  {
    EventLogWriter writer(run.folder / "r/events.bin", run.log.header);
    int arrived = 0;
    for (Event event : run.log.events) {
      if (event.kind == Event::Kind::arrive && arrived++ == 7) event.loss += 1e-9;
      writer.append(event);
    }
  }
  BOOST_TEST(run.explained("--update 5")["update"] == 5);
  const Outcome outcome = run_in(run.folder, "explain r --update 20");
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(outcome.out == "");
  BOOST_TEST(contains(outcome.err, "this is not what the run did: update 7 differs"));
}

BOOST_AUTO_TEST_CASE(mistakes_in_a_question) {
  const Run run;
  const std::vector<std::pair<std::string, std::string>> asked = {
      {"explain", "which run?"},
      {"explain r", "which update?"},
      {"explain r --update -1", "--update: expected a whole number from 0"},
      {"explain r --update 32", "--update 32: the run has 32 updates, counted from 0"},
      {"explain r --update 3 --worker 4", "--worker 4: the run has 4 workers, from 0 to 3"},
      {"explain r --update 30 --worker 1", "--update 30: worker 1 has made "},
      {"explain r --update 3 --parameter fc1.wight", "did you mean fc1.weight?"},
      {"explain r --update 3 --worker ''", "--worker: expected a whole number"},
      {"explain nowhere --update 3", "nowhere/config.json: No such file"},
      {"explain r more --update 3", "'more' belongs to no option"},
      {"explain r --updat 3", "did you mean --update?"},
  };
  for (const auto& [arguments, told] : asked) BOOST_TEST_CONTEXT(arguments) {
      const Outcome outcome = run_in(run.folder, arguments);
      BOOST_TEST(outcome.status == 1);
      BOOST_TEST(outcome.out == "");
      BOOST_TEST(contains(outcome.err, told), outcome.err);
    }
}

BOOST_AUTO_TEST_SUITE_END()
