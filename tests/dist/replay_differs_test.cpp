// Replays that do not go as the run did: another rule, another task, logs that are wrong.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <stdexcept>

#include "tests/dist/replay_fake.h"
#include "tests/optim/identities.h"

using namespace tg;
using namespace tg::fake;
using Kind = Event::Kind;

BOOST_AUTO_TEST_SUITE(replays_that_differ)

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
     "was sent no parameters");
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
  // Shard 1 does not send the first worker to arrive the parameters of its second task.
  is(error_with([](Events& e, Events& second) {
       const WorkerId id = e[4].worker;
       const auto of = [&](Kind kind) {
         return std::find_if(second.begin() + 4, second.end(),
                             [&](const Event& event) { return event.kind == kind && event.worker == id; });
       };
       second.erase(of(Kind::assign));
     }),
     "shard 1, event ", "was sent no parameters");
  // Each shard waits for a message of one worker before it sends the other worker the parameters that the other shard's
  // first message needs.
  const auto begin_with = [](WorkerId id, Events& e) {
    const auto move_to = [&](int place, Kind kind) {
      const auto found = std::find_if(e.begin() + place, e.end(),
                                      [&](const Event& event) { return event.kind == kind && event.worker == id; });
      std::rotate(e.begin() + place, found, found + 1);
    };
    move_to(2, Kind::assign);
    move_to(3, Kind::arrive);
  };
  is(error_with([&](Events& e, Events& second) {
       begin_with(0, e);
       begin_with(1, second);
     }),
     "shard 0, event 3 (arrive)", "sends them only later");
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
      const int cut = rule->shardable() ? shards : 1;
      Recorded& recorded = recordings[fmt::format("{} {} {} {} {} {}", workers, cut, rule->needs_rounds(),
                                                  rule->batches(), schedule.peak(), schedule.rate(60))];
      if (recorded.logs.empty()) {
        const auto recording_rule = fake::rule(rule->batches() == 1 ? "asgd" : spec);
        Job recording = job;
        recording.rule = recording_rule.get();
        recorded = record(recording, {.shards = cut});
      }
      const Replayed replayed = again(job, recorded.logs, {.compare = false, .pool_threads = 2});
      BOOST_TEST(replayed.whole, spec << " " << workers << " " << schedule.peak() << ": " << replayed.history.message
                                      << " " << replayed.difference);
      return replayed.history.theta;
    };
    const std::vector<Schedule> schedules = {
        Schedule({.peak = 0.02}), Schedule({.peak = 0.03, .warmup = 30, .warmup_start = 0.01, .drops = {50, 120}})};
    test::one_worker_is_sgd(run, schedules);
    test::lambda_zero_is_without_compensation(run, schedules);
    test::one_worker_ahead_is_nesterov(run, schedules);
    test::momentum_zero_is_without_velocity(run, schedules);
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
