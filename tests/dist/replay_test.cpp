// Replay: a run on threads, or a simulated one, once more from its events, bit for bit.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>

#include "tests/dist/replay_fake.h"

using namespace tg;
using namespace tg::fake;
using Kind = Event::Kind;

namespace {

// Everything that a run has measured, and more: all gaps.
void check_same(const Job& job, const Recorded& recorded) {
  fake::Recorder heard;
  const Replayed replayed = replay(job, recorded.logs, {.pool_threads = 2}, heard);
  BOOST_TEST(replayed.difference == "");
  BOOST_TEST(replayed.whole);
  BOOST_TEST((replayed.history.status == recorded.history.status));
  BOOST_TEST(replayed.history.theta == recorded.history.theta, boost::test_tools::per_element());
  for (size_t s = 0; s < recorded.logs.size(); ++s) BOOST_TEST((heard.shards[s] == recorded.logs[s].events));
  BOOST_REQUIRE(replayed.history.updates.size() == recorded.history.updates.size());
  for (size_t i = 0; i < recorded.history.updates.size(); ++i) {
    const UpdateRecord &a = replayed.history.updates[i], &b = recorded.history.updates[i];
    BOOST_REQUIRE((a.update == b.update && a.worker == b.worker && a.batch == b.batch && a.lag == b.lag &&
                   a.loss == b.loss && a.learning_rate == b.learning_rate && a.time == b.time &&
                   a.bytes_up == b.bytes_up && a.bytes_down == b.bytes_down));
    BOOST_REQUIRE((std::isnan(b.gap) ? a.gap >= 0 : a.gap == b.gap));
  }
  BOOST_REQUIRE(replayed.history.evaluations.size() == recorded.history.evaluations.size());
  for (size_t i = 0; i < recorded.history.evaluations.size(); ++i) {
    const EvaluationRecord &a = replayed.history.evaluations[i], &b = recorded.history.evaluations[i];
    BOOST_REQUIRE((a.gradients == b.gradients && a.epoch == b.epoch && a.train_loss == b.train_loss &&
                   a.test_loss == b.test_loss && a.time == b.time));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replays)

BOOST_AUTO_TEST_CASE(every_rule_on_threads_is_replayed_bit_for_bit) {
  const FourTensors task;
  for (const SpecInfo& info : rule_infos()) {
    const auto rule = fake::rule(info.name);
    for (const int workers : {2, 8})
      for (const int shards : {1, rule->shardable() ? 3 : 1})
        BOOST_TEST_CONTEXT(info.name << ", " << workers << " workers, " << shards << " shards") {
          const Job job = make_job(task, *rule, rule->sequential() ? 1 : workers, 250);
          check_same(job, record(job, {.shards = shards}));
        }
  }
}

BOOST_AUTO_TEST_CASE(every_gate_and_options_that_keep_state_per_worker) {
  const FourTensors task;
  for (const char* spec : {"asgd", "dc-asgd-a:mean-square=worker", "dana-zero"})
    for (const char* gate : {"ssp:bound=1", "bsp", "bsp:backup=2"}) BOOST_TEST_CONTEXT(spec << " under " << gate) {
        const auto rule = fake::rule(spec);
        Job job = make_job(task, *rule, 6, 250);
        job.gate = fake::gate(gate);
        check_same(job, record(job, {.shards = 2}));
      }
  const auto rule = fake::rule("ssgd:backup=2,momentum=0.9,nesterov=true");
  const Job job = make_job(task, *rule, 6, 250);
  check_same(job, record(job, {.shards = 3}));
}

BOOST_AUTO_TEST_CASE(lossy_codecs) {
  const FourTensors task;
  const auto rule = fake::rule("asgd");
  Job job = make_job(task, *rule, 4, 250);
  job.codec_up = fake::rounding(0.001f);
  job.codec_down = fake::rounding(0.0001f);
  job.gate = fake::gate("bsp:backup=1");
  check_same(job, record(job, {.shards = 3}));
}

BOOST_AUTO_TEST_CASE(simulated_runs) {
  const FourTensors task;
  for (const char* spec : {"asgd", "ssgd:backup=1", "dana-zero"}) {
    const auto rule = fake::rule(spec);
    const Job job = make_job(task, *rule, 5, 250);
    fake::Recorder heard;
    const SimulatorOptions options{.clock = {.heterogeneous = true}, .link = {.latency = 2}, .pool_threads = 2};
    const History history = simulate(job, options, heard);
    check_same(job, {history, logs_of(heard)});
  }
}

BOOST_AUTO_TEST_CASE(the_pool_changes_no_bit) {
  const FourTensors task;
  const auto rule = fake::rule("dana-zero");
  const Job job = make_job(task, *rule, 8, 250);
  const Recorded recorded = record(job, {.shards = 3});
  for (const int threads : {1, 2, 8})
    BOOST_TEST(again(job, recorded.logs, {.pool_threads = threads}).history.theta == recorded.history.theta,
               boost::test_tools::per_element());
}

// The lost worker's batch is computed by nobody.
BOOST_AUTO_TEST_CASE(runs_that_lost_workers) {
  for (const char* spec : {"asgd", "ssgd", "dana-zero"})
    for (const int shards : {1, 3}) {
      FourTensors task;
      bool faulty = true;
      std::atomic<int> computed = 0;
      task.on_gradient = [&](int64_t batch) {
        computed += batch == 30 || batch == 50;
        if (faulty && (batch == 30 || batch == 50)) throw std::runtime_error("out");
      };
      const auto rule = fake::rule(spec);
      Job job = make_job(task, *rule, 5, 400);
      if (!rule->needs_rounds()) job.gate = fake::gate("ssp:bound=20");  // so that the faults come before the end
      const Recorded recorded = record(job, {.shards = shards});
      BOOST_TEST(recorded.history.lost.size() == 2u);
      computed = 0;
      BOOST_TEST_CONTEXT(spec << " on " << shards) { check_same(job, recorded); }
      BOOST_TEST(computed == 0);
      faulty = false;
      const auto losses = again(job, recorded.logs).history.lost;
      BOOST_REQUIRE(losses.size() == 2u);
      for (size_t i = 0; i < 2; ++i) {
        BOOST_TEST(losses[i].worker == recorded.history.lost[i].worker);
        BOOST_TEST(losses[i].update == recorded.history.lost[i].update);
      }
    }
}

BOOST_AUTO_TEST_CASE(stopped_and_diverged_runs) {
  const FourTensors task;
  const auto rule = fake::rule("multi-asgd");
  const Job job = make_job(task, *rule, 4, 100'000'000);
  for (const int shards : {1, 3}) {
    const Recorded stopped = record(job, {.shards = shards}, 300);
    BOOST_TEST((stopped.history.status == History::Status::stopped));
    const Replayed replayed = again(job, stopped.logs);
    BOOST_TEST(replayed.whole);
    BOOST_TEST(replayed.difference == "");
    BOOST_TEST((replayed.history.status == History::Status::stopped));
    BOOST_TEST(replayed.history.theta == stopped.history.theta, boost::test_tools::per_element());
    BOOST_TEST(replayed.history.updates.size() == stopped.history.updates.size());
  }
  class Spoilt : public FourTensors {
    double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override {
      const double loss = FourTensors::gradient(at, seed, batch, stream, out);
      return batch == 60 ? std::nan("") : loss;
    }
  };
  const Spoilt spoilt;
  const Job lost = make_job(spoilt, *rule, 4, 100'000);
  const Recorded diverged = record(lost, {.shards = 2});
  const Replayed replayed = again(lost, diverged.logs);
  BOOST_TEST(replayed.whole);
  BOOST_TEST(replayed.history.theta == diverged.history.theta, boost::test_tools::per_element());
}

// What a crash leaves: of each log some beginning.
BOOST_AUTO_TEST_CASE(cut_logs_are_replayed_as_far_as_they_go_together) {
  const FourTensors task;
  for (const char* spec : {"asgd", "ssgd"})
    for (const int shards : {1, 3}) {
      const auto rule = fake::rule(spec);
      const Job job = make_job(task, *rule, 4, 100);
      const Recorded recorded = record(job, {.shards = shards});
      Generator random(Stream(7));
      for (int round = 0; round < 40; ++round) {
        std::vector<EventLog> cut = recorded.logs;
        for (EventLog& log : cut) log.events.resize(random.below(log.events.size()));
        const Replayed replayed = again(job, cut);
        BOOST_REQUIRE(replayed.difference == "");
        BOOST_REQUIRE(!replayed.whole);
        BOOST_REQUIRE((replayed.history.status == History::Status::stopped));
        const auto& updates = replayed.history.updates;
        for (size_t i = 0; i < updates.size(); ++i) BOOST_REQUIRE(updates[i].loss == recorded.history.updates[i].loss);
        if (shards > 1) continue;
        const auto taken = std::count_if(cut[0].events.begin(), cut[0].events.end(),
                                         [](const Event& event) { return event.kind == Kind::arrive && event.taken; });
        BOOST_REQUIRE(std::ssize(updates) == taken);
      }
    }
}

BOOST_AUTO_TEST_SUITE_END()
