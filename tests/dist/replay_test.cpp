// Replay: a run on threads, or a simulated one, once more from its events, bit for bit; another rule on the same
// arrivals; and logs that are cut, wrong or another run's.

#include "dist/replay/replay.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>

#include "tests/dist/threads_fake.h"
#include "tests/optim/identities.h"

using namespace tg;
using fake::FourTensors;
using Kind = Event::Kind;

namespace {

struct Recorded {
  History history;
  std::vector<EventLog> logs;
};

std::vector<EventLog> logs_of(const fake::Recorder& heard) {
  std::vector<EventLog> logs;
  for (const auto& events : heard.shards)
    logs.push_back(
        {.header = {.shard = static_cast<int32_t>(logs.size()), .shards = static_cast<int32_t>(heard.shards.size())},
         .events = events});
  return logs;
}

Recorded record(const Job& job, const ThreadsOptions& options, int64_t stop_after = -1) {
  fake::Recorder heard;
  heard.stop_after = stop_after;
  History history = run_threads(job, options, heard);
  return {std::move(history), logs_of(heard)};
}

Replayed again(const Job& job, const std::vector<EventLog>& logs, const ReplayOptions& options = {.pool_threads = 2}) {
  Observer nobody;
  return replay(job, logs, options, nobody);
}

// Small rates: a thread that the system holds up may be hundreds of updates late.
Job make_job(const Task& task, const Rule& rule, int workers, int64_t gradients) {
  Job job = fake::job(task, rule, workers, gradients);
  job.schedule = Schedule({.peak = 0.002, .warmup = gradients / 4, .drops = {gradients / 2}});
  job.evaluate_every = gradients / 5;
  job.seed = 4;
  return job;
}

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
                   a.test_loss == b.test_loss));
  }
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(replays)

BOOST_AUTO_TEST_CASE(every_rule_on_threads_is_replayed_bit_for_bit) {
  const FourTensors task;
  for (const SpecInfo& info : rule_infos()) {
    const auto rule = fake::rule(info.name);
    for (const int workers : {2, 8})
      for (const int shards : {1, 3})
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

BOOST_AUTO_TEST_CASE(the_first_update_that_differs_is_named) {
  class Changed : public FourTensors {
   public:
    double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override {
      const double loss = FourTensors::gradient(at, seed, batch, stream, out);
      if (batch == changed_batch) out[0] += 1;
      return loss;
    }
    int64_t changed_batch = -1;
  };
  Changed task;
  const auto rule = fake::rule("asgd");
  Job job = make_job(task, *rule, 4, 200);
  for (const int shards : {1, 3}) {
    job.gate = fake::gate("ssp:bound=1");
    const Recorded recorded = record(job, {.shards = shards});
    // The update that has another gradient has the same loss; the first that is taken at what came of it has not.
    task.changed_batch = 80;
    const Replayed replayed = again(job, recorded.logs);
    task.changed_batch = -1;
    BOOST_TEST(!replayed.whole);
    BOOST_TEST(
        (contains(replayed.difference, " differs: worker ") || contains(replayed.difference, "parameters of shard")),
        replayed.difference);
    BOOST_TEST(replayed.history.updates.size() < 200u);

    // Another seed is another first loss.
    Job other = job;
    other.seed = 5;
    BOOST_TEST(contains(again(other, recorded.logs).difference, "update 0 differs: worker "));

    // Losses that are right do not hide parameters that are not.
    std::vector<EventLog> tampered = recorded.logs;
    for (Event& event : tampered.back().events)
      if (event.kind == Kind::evaluate && event.batch == 2) ++event.theta_hash;
    BOOST_TEST(contains(again(job, tampered).difference, fmt::format("the parameters of shard {} differ", shards - 1)));
  }
}

BOOST_AUTO_TEST_CASE(orders_that_cannot_be_are_errors_with_their_place) {
  const FourTensors task;
  const auto rule = fake::rule("asgd");
  Job job = make_job(task, *rule, 2, 20);
  job.gate =
      fake::gate("bsp");  // an order that is the same in every run: join 0, join 1, assign 0, assign 1, arrive ...
  const Recorded recorded = record(job, {.shards = 2});
  const auto error_with =
      [&](const std::function<void(std::vector<Event> & first, std::vector<Event> & second)>& change) {
        std::vector<EventLog> logs = recorded.logs;
        change(logs[0].events, logs[1].events);
        return error_of([&] { again(job, logs); });
      };
  using Events = std::vector<Event>;
  const auto is = [&](const std::string& error, const char* place, const char* what) {
    BOOST_TEST(contains(error, place), error << " lacks " << place);
    BOOST_TEST(contains(error, what), error << " lacks " << what);
  };
  is(error_with([](Events& e, Events&) { e[1].worker = 2; }), "shard 0, event 1 (join)", "no worker 2; the run has 2");
  is(error_with([](Events&, Events& e) { e[3].worker = -1; }), "shard 1, event 3 (assign)", "no worker -1");
  is(error_with([](Events& e, Events&) { e[1].worker = e[0].worker; }), "shard 0, event 1 (join)", "joined before");
  is(error_with([](Events& e, Events&) { e.erase(e.begin()); }), "shard 0, event 1 (assign)",
     "worker 0 has not joined");
  is(error_with([](Events&, Events& e) { e.insert(e.begin() + 4, e[3]); }), "shard 1, event 4 (assign)",
     "at work already");
  is(error_with([](Events& e, Events&) { e[2].batch = -1; }), "shard 0, event 2 (assign)", "there is no batch -1");
  is(error_with([](Events& e, Events&) { e[4].batch += 1; }), "shard 0, event 4 (arrive)", "has batch");
  is(error_with([](Events& e, Events&) { e.insert(e.begin() + 5, e[4]); }), "shard 0, event 5 (arrive)",
     "sent nothing to work from");
  is(error_with([](Events& e, Events&) { e[4].version = 7; }), "shard 0, event 4 (arrive)",
     "1 messages were taken in; the log says 7");
  is(error_with([](Events&, Events& e) { e[3].learning_rate = 0.5f; }), "event 3 (assign)", "another shard sent it");
  is(error_with([](Events& e, Events&) { e.insert(e.begin() + 6, e.back()); }), "shard 0, event 6 (finish)",
     "events follow the run's end");
  is(error_with([](Events&, Events& e) {
       e[4].taken = false;
       for (Event& event : e)
         if (event.version > 0) --event.version;
     }),
     "event 4 (arrive)", "taken at one shard and refused at another");
  is(error_with([](Events&, Events& e) {
       for (Event& event : e)
         if (event.kind == Kind::evaluate) event.batch += 100;
     }),
     "(evaluate)", "evaluations that not all shards have begun");
  // Shard 0 waits for what shard 1 sends only after a message that needs shard 0.
  is(error_with([](Events& e, Events& second) {
       const WorkerId id = e[4].worker;
       const auto of = [&](Kind kind) {
         return std::find_if(second.begin() + 4, second.end(),
                             [&](const Event& event) { return event.kind == kind && event.worker == id; });
       };
       second.erase(of(Kind::assign));
     }),
     "event", "");
  BOOST_TEST(contains(error_of([&] { again(job, {}); }), "use 1 to 4"));
  BOOST_TEST(contains(error_of([&] {
                        std::vector<EventLog> many(5, recorded.logs[0]);
                        again(job, many);
                      }),
                      "use 1 to 4"));
}

BOOST_AUTO_TEST_CASE(what_the_task_throws_names_worker_and_batch) {
  FourTensors task;
  const auto rule = fake::rule("asgd");
  Job job = make_job(task, *rule, 3, 100);
  job.gate = fake::gate("bsp");
  const Recorded recorded = record(job, {});
  task.on_gradient = [](int64_t batch) {
    if (batch == 40) throw std::runtime_error("the disk is gone");
  };
  const std::string message = error_of([&] { again(job, recorded.logs); });
  BOOST_TEST(contains(message, "batch 40: the disk is gone"), message);
}

BOOST_AUTO_TEST_CASE(an_observer_can_stop_it) {
  const FourTensors task;
  const auto rule = fake::rule("asgd");
  const Job job = make_job(task, *rule, 3, 200);
  const Recorded recorded = record(job, {});
  fake::Recorder heard;
  heard.stop_after = 50;
  const Replayed replayed = replay(job, recorded.logs, {.pool_threads = 2}, heard);
  BOOST_TEST(replayed.history.updates.size() == 50u);
  BOOST_TEST((replayed.history.status == History::Status::stopped));
  BOOST_TEST(!replayed.whole);
}

// Other rules on the arrivals of runs on threads: the identities of the papers, which need the same arrivals for both
// sides.
BOOST_AUTO_TEST_CASE(the_identities_hold_on_recorded_arrivals) {
  const FourTensors task;
  for (const int shards : {1, 3}) {
    std::map<std::string, Recorded> recordings;
    const auto run = [&](const std::string& spec, int workers, const Schedule& schedule) {
      const auto rule = fake::rule(spec);
      Job job = fake::job(task, *rule, workers, 150);
      job.schedule = schedule;
      job.gate = fake::gate(rule->needs_rounds() ? "bsp" : "ssp:bound=20");
      Recorded& recorded =
          recordings[fmt::format("{} {} {} {}", workers, rule->needs_rounds(), schedule.peak(), schedule.rate(60))];
      if (recorded.logs.empty()) {
        const auto recording_rule = fake::rule("asgd");
        Job recording = job;
        recording.rule = recording_rule.get();
        recorded = record(recording, {.shards = shards});
      }
      const Replayed replayed = again(job, recorded.logs, {.compare = false, .pool_threads = 2});
      BOOST_TEST(replayed.whole);
      return replayed.history.theta;
    };
    const std::vector<Schedule> schedules = {
        Schedule({.peak = 0.02}), Schedule({.peak = 0.03, .warmup = 30, .warmup_start = 0.01, .drops = {50, 120}})};
    test::one_worker_is_sgd(run, schedules);
    test::lambda_zero_is_asgd(run, schedules);
    test::dana_zero_with_one_worker_is_nesterov(run, schedules);
    test::momentum_zero_is_asgd(run, schedules);
    test::rules_differ(run, schedules);
    std::vector<float> initial(static_cast<size_t>(task.layout().size()));
    task.initial(Job().seed, {initial.data(), task.layout().size()});
    test::rate_zero_changes_nothing(run, initial);
  }
}

BOOST_AUTO_TEST_CASE(another_rule_that_diverges_says_where) {
  class Growing : public fake::Ones {
    double gradient(View at, uint64_t, int64_t, const Stream&, Span out) const override {
      double loss = 0;
      for (int64_t i = 0; i < out.size; ++i) {
        out[i] = at[i] - 1;
        loss += static_cast<double>(out[i]) * static_cast<double>(out[i]);
      }
      return loss > 1e6 ? std::nan("") : loss;
    }
  };
  const Growing task;
  const auto asgd = fake::rule("asgd"), other = fake::rule("dc-asgd-c:lambda=1000");
  Job job = fake::job(task, *asgd, 4, 2000);
  job.gate = fake::gate("bsp");
  job.schedule = Schedule({.peak = 0.1});
  const Recorded recorded = record(job, {});
  BOOST_TEST((recorded.history.status == History::Status::finished));
  job.rule = other.get();
  const Replayed replayed = again(job, recorded.logs, {.compare = false, .pool_threads = 2});
  BOOST_TEST((replayed.history.status == History::Status::diverged));
  BOOST_TEST(contains(replayed.history.message, fmt::format("at update {}: worker ", replayed.history.updates.size())));
}

BOOST_AUTO_TEST_CASE(a_rule_that_needs_rounds_needs_arrivals_in_rounds) {
  const FourTensors task;
  const auto asgd = fake::rule("asgd"), ssgd = fake::rule("ssgd");
  Job job = make_job(task, *asgd, 3, 60);
  job.gate = fake::gate("async");
  const Recorded recorded = record(job, {});
  job.rule = ssgd.get();
  BOOST_TEST(contains(error_of([&] { again(job, recorded.logs, {.compare = false}); }), "its gate has none"));
}

BOOST_AUTO_TEST_SUITE_END()
