// What a replay can be asked: the terms of an update.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "tests/dist/replay_fake.h"

using namespace tg;
using fake::FourTensors;

namespace {

// Asks for the terms of one batch's message, or of all messages, and keeps what it is told, by shard.
struct Curious : Observer {
  struct Told : Terms {
    std::vector<std::string> names;
    std::vector<double> steps;  // their sum
    void term(const std::string& name, View values) override {
      names.push_back(name);
      if (!name.starts_with("step")) return;
      steps.resize(static_cast<size_t>(values.size));
      for (int64_t i = 0; i < values.size; ++i) steps[static_cast<size_t>(i)] += static_cast<double>(values[i]);
    }
  };
  std::vector<Told> told;
  std::vector<UpdateRecord> updates;
  int64_t batch = -1;       // -1: all
  int64_t stop_after = -1;  // updates
  int asked = 0;

  explicit Curious(size_t shards) : told(shards) {}
  Terms* explain_to(int shard, WorkerId, int64_t of, View) override {
    ++asked;
    return batch < 0 || batch == of ? &told[static_cast<size_t>(shard)] : nullptr;
  }
  void on_update(const UpdateRecord& update) override { updates.push_back(update); }
  bool stop() override { return std::ssize(updates) == stop_after; }
};

// Asks for the terms of every message at both ends, and keeps their values by the message's batch.
struct AtBothEnds : Observer {
  struct Told : Terms {
    std::map<std::string, std::vector<float>> values;  // of all shards, one after the other
    void term(const std::string& name, View of) override {
      values[name].insert(values[name].end(), of.begin(), of.end());
    }
    std::vector<float> starting(const std::string& name) const {
      for (const auto& [of, value] : values)
        if (of.starts_with(name)) return value;
      return {};
    }
  };
  std::map<int64_t, Told> worker, server;
  std::vector<UpdateRecord> updates;
  Terms* explain_work_to(WorkerId, int64_t batch) override { return &worker[batch]; }
  Terms* explain_to(int, WorkerId, int64_t batch, View) override { return &server[batch]; }
  void on_update(const UpdateRecord& update) override { updates.push_back(update); }
};

std::vector<EventLog> record(const Job& job, int shards) { return fake::record(job, {.shards = shards}).logs; }

Job make_job(const Task& task, const Rule& rule) { return fake::make_job(task, rule, 4, 200); }

}  // namespace

BOOST_AUTO_TEST_SUITE(replay_explains)

BOOST_AUTO_TEST_CASE(all_steps_together_lead_from_the_initial_to_the_final_parameters) {
  const FourTensors task;
  for (const char* spec : {"asgd", "dc-asgd-a:mean-square=worker", "multi-asgd", "dana-zero"})
    for (const int shards : {1, 3}) {
      const auto rule = fake::rule(spec);
      const Job job = make_job(task, *rule);
      Curious curious(static_cast<size_t>(shards));
      const std::vector<EventLog> logs = record(job, shards);
      const Replayed replayed = replay(job, logs, {.pool_threads = 2}, curious);
      BOOST_TEST(replayed.difference == "");
      BOOST_TEST(curious.asked == 200 * shards);
      std::vector<double> steps;
      for (const auto& told : curious.told) steps.insert(steps.end(), told.steps.begin(), told.steps.end());
      const Tensor initial = initial_parameters(job);
      double worst = 0, farthest = 0;
      for (const int64_t i : fake::parameters(task.layout())) {
        const double moved = static_cast<double>(initial.view()[i]) -
                             static_cast<double>(replayed.history.theta[static_cast<size_t>(i)]);
        worst = std::max(worst, std::abs(moved - steps[static_cast<size_t>(i)]));
        farthest = std::max(farthest, std::abs(moved));
      }
      BOOST_TEST_CONTEXT(spec << ", " << shards << " shards") {
        BOOST_TEST(worst < 1e-5);  // 200 roundings of float32 near 1
        BOOST_TEST(farthest > 0.01);
      }
    }
}

BOOST_AUTO_TEST_CASE(one_update_is_explained_by_every_shard_and_the_replay_may_end_there) {
  FourTensors task;
  const auto rule = fake::rule("dana-zero");
  const Job job = make_job(task, *rule);
  const std::vector<EventLog> logs = record(job, 3);
  std::vector<int64_t> batches;
  for (const Event& event : logs.front().events)
    if (event.kind == Event::Kind::arrive) batches.push_back(event.batch);
  int evaluated = 0;
  task.on_evaluate = [&] { ++evaluated; };
  Curious curious(3);
  curious.batch = batches.at(120);
  curious.stop_after = 121;
  const Replayed replayed = replay(job, logs, {.evaluate = false, .pool_threads = 2}, curious);
  for (const auto& told : curious.told) {
    BOOST_TEST(told.names.size() == 7u);
    BOOST_TEST(told.names.front() == "g");
  }
  BOOST_TEST(curious.updates.back().batch == curious.batch);
  BOOST_TEST((replayed.history.status == History::Status::stopped));
  BOOST_TEST(replayed.difference == "");
  BOOST_TEST(evaluated == 0);
  BOOST_TEST(replayed.history.evaluations.empty());
}

// dana-slim's workers keep velocities: asked at any other time than just before its work, a worker would tell of
// another message than the server then takes in.
BOOST_AUTO_TEST_CASE(what_a_worker_explains_is_what_the_server_takes_in) {
  const FourTensors task;
  const auto rule = fake::rule("dana-slim");
  const Job job = make_job(task, *rule);
  AtBothEnds heard;
  const Replayed replayed = replay(job, record(job, 1), {.pool_threads = 2}, heard);
  BOOST_TEST(replayed.difference == "");
  BOOST_REQUIRE(heard.updates.size() == 200u);
  for (const UpdateRecord& update : heard.updates) {
    const std::vector<float> sent = heard.worker[update.batch].starting("u = ");
    BOOST_REQUIRE(std::ssize(sent) == task.layout().size());
    BOOST_TEST((sent == heard.server[update.batch].starting("step")), "update " << update.update);
    BOOST_TEST(heard.worker[update.batch].starting("g").size() == sent.size());
  }
}

BOOST_AUTO_TEST_CASE(a_worker_whose_message_is_the_gradient_has_no_terms_and_a_local_loop_tells_its_first_step) {
  const FourTensors task;
  const auto told = [&](const char* spec) {
    const auto rule = fake::rule(spec);
    const Job job = make_job(task, *rule);
    AtBothEnds heard;
    BOOST_TEST(replay(job, record(job, 3), {.pool_threads = 2}, heard).difference == "");
    return heard.worker.at(heard.updates.at(20).batch).values;
  };
  BOOST_TEST(told("dana-zero").empty());
  for (const char* spec : {"easgd:period=4", "eamsgd:period=2", "local-sgd:period=3"}) {
    const auto values = told(spec);
    BOOST_TEST_CONTEXT(spec) {
      BOOST_REQUIRE(values.contains("g"));
      for (const auto& [name, value] : values) BOOST_TEST(std::ssize(value) == task.layout().size(), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(explaining_changes_nothing) {
  const FourTensors task;
  const auto rule = fake::rule("ssgd:momentum=0.9");
  const Job job = make_job(task, *rule);
  const std::vector<EventLog> logs = record(job, 2);
  Observer nobody;
  Curious curious(2);
  const Replayed silent = replay(job, logs, {.pool_threads = 2}, nobody);
  const Replayed told = replay(job, logs, {.pool_threads = 2}, curious);
  BOOST_TEST(told.difference == "");
  BOOST_TEST(told.history.theta == silent.history.theta, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
