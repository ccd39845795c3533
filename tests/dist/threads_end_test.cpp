// How a run on threads ends: stopped, diverged, with lost workers, with an error, or by a deadline.

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <thread>

#include "optim/gates.h"
#include "tests/dist/threads_fake.h"
#include "tests/errors.h"

using namespace tg;
using fake::FourTensors;
using fake::PlainRule;
using Kind = Event::Kind;

namespace {

void wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Counts the notes for other threads.
struct Listener : fake::Recorder {
  void on_note(const std::string& note) override {
    Recorder::on_note(note);
    heard = std::ssize(notes);
  }
  std::atomic<int64_t> heard = 0;
};

// A task that throws in some batches. Late ones wait until all that is known, so that the run does not end before.
class Faulty : public FourTensors {
 public:
  Faulty(std::set<int64_t> batches, const Listener& listener) : batches_(std::move(batches)) {
    on_gradient = [this, &listener](int64_t batch) {
      if (batches_.count(batch) != 0) throw std::runtime_error("the cable is out");
      if (batch >= 200) wait_until([&] { return listener.heard == std::ssize(batches_); });
    };
  }

 private:
  std::set<int64_t> batches_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(threads_end)

BOOST_AUTO_TEST_CASE(a_lost_worker_leaves_and_the_others_go_on) {
  for (const char* spec : {"asgd", "dana-zero", "ssgd", "ssgd:backup=1"})
    for (const int shards : {1, 3}) {
      Listener heard;
      const Faulty task({50}, heard);
      const auto rule = fake::rule(spec);
      Job job = fake::job(task, *rule, 4, 400);
      job.schedule = Schedule({.peak = 0.001});
      const History history = run_threads(job, {.shards = shards}, heard);
      BOOST_TEST_CONTEXT(spec << " on " << shards << " shards") {
        BOOST_TEST((history.status == History::Status::finished));
        BOOST_TEST(history.updates.size() == 400u);
        BOOST_REQUIRE(history.lost.size() == 1u);
        const LostWorker& lost = history.lost[0];
        BOOST_TEST(lost.reason == "batch 50: the cable is out");
        BOOST_TEST(lost.update >= 30);  // batches are handed out as messages come, though some may be refused
        BOOST_REQUIRE(heard.notes.size() == 1u);
        BOOST_TEST(contains(heard.notes[0], fmt::format("worker {} is lost after", lost.worker)));
        for (const auto& events : heard.shards) {
          int left = 0;
          bool after = false;
          for (const Event& event : events) {
            BOOST_TEST((!after || event.worker != lost.worker));
            if (event.kind != Kind::leave) continue;
            BOOST_TEST(event.worker == lost.worker);
            ++left;
            after = true;
          }
          BOOST_TEST(left == 1);
        }
      }
    }
}

// All others wait at the barrier when the last one is lost, and again with the next.
BOOST_AUTO_TEST_CASE(a_barrier_that_waited_for_a_lost_worker_opens) {
  for (const char* gate : {"bsp", "ssp:bound=0"}) {
    FourTensors task;
    fake::Recorder heard;
    std::atomic<int> arrived = 0;
    PlainRule rule;
    rule.on_apply = [&](WorkerId, View, const StepInfo&) { ++arrived; };
    task.on_gradient = [&](int64_t batch) {
      if (batch != 5 && batch != 8) return;  // of round 1, and of round 2 with three workers
      wait_until([&] { return arrived == (batch == 5 ? 7 : 9); });
      throw std::runtime_error("the cable is out");
    };
    Job job = fake::job(task, rule, 4, 100);
    job.gate = fake::gate(gate);
    const History history = run_threads(job, {}, heard);
    BOOST_TEST_CONTEXT(gate) {
      BOOST_TEST((history.status == History::Status::finished));
      BOOST_TEST(history.updates.size() == 100u);
      BOOST_REQUIRE(history.lost.size() == 2u);
      BOOST_TEST(history.lost[0].update == 7);
      BOOST_TEST(history.lost[1].update == 9);
    }
  }
}

BOOST_AUTO_TEST_CASE(half_of_the_workers_or_all_but_one_may_be_lost) {
  for (const char* spec : {"asgd", "ssgd"})
    for (const int faults : {4, 7}) {
      std::set<int64_t> batches;
      for (int i = 0; i < faults; ++i) batches.insert(30 + i);
      Listener heard;
      const Faulty task(batches, heard);
      const auto rule = fake::rule(spec);
      const History history = run_threads(fake::job(task, *rule, 8, 300), {.shards = 2}, heard);
      BOOST_TEST((history.status == History::Status::finished));
      BOOST_TEST(history.updates.size() == 300u);
      BOOST_TEST(std::ssize(history.lost) == faults);
    }
}

BOOST_AUTO_TEST_CASE(a_run_without_workers_is_an_error_with_the_first_reason) {
  for (const char* spec : {"asgd", "ssgd"}) {
    FourTensors task;
    task.on_gradient = [](int64_t batch) {
      if (batch >= 20) throw std::runtime_error("the disk is gone");
    };
    const auto rule = fake::rule(spec);
    const std::string message = error_of([&] { fake::run_on_threads(fake::job(task, *rule, 3, 100)); });
    BOOST_TEST(contains(message, "all workers are lost, after 20 of 100 gradients; the first was worker "), message);
    BOOST_TEST(contains(message, "the disk is gone"), message);
  }
}

BOOST_AUTO_TEST_CASE(a_fault_between_the_gradient_and_the_push_loses_the_worker_alone) {
  const FourTensors task;
  class Breaking : public PlainRule {
    class BreakingWorker : public Worker {
     public:
      explicit BreakingWorker(WorkerId id) : id_(id) {}
      void work(View reply, const StepInfo&, Oracle& oracle, Span message) override {
        oracle.gradient(reply, message);
        if (id_ == 2 && ++steps_ == 10) throw std::runtime_error("injected");
      }
      WorkerId id_;
      int steps_ = 0;
    };
    std::unique_ptr<Worker> worker(WorkerId id, const Layout&) const override {
      return std::make_unique<BreakingWorker>(id);
    }
  };
  const Breaking rule;
  Job job = fake::job(task, rule, 4, 400);
  job.gate = fake::gate("ssp:bound=2");
  const History history = fake::run_on_threads(job, {.shards = 2});
  BOOST_REQUIRE(history.lost.size() == 1u);
  BOOST_TEST(history.lost[0].worker == 2);
  const auto of_the_lost = std::count_if(history.updates.begin(), history.updates.end(),
                                         [](const UpdateRecord& update) { return update.worker == 2; });
  BOOST_TEST(of_the_lost == 9);
}

BOOST_AUTO_TEST_CASE(a_stop_ends_all_shards_after_the_same_messages) {
  const FourTensors task;
  for (const char* spec : {"asgd", "ssgd"}) {
    const auto rule = fake::rule(spec);
    Job job = fake::job(task, *rule, 4, 100'000'000);
    fake::Recorder heard;
    heard.stop_after = 500;
    const History history = run_threads(job, {.shards = 3}, heard);
    BOOST_TEST((history.status == History::Status::stopped));
    BOOST_TEST(history.updates.size() >= 500u);
    for (const auto& events : heard.shards) {
      BOOST_TEST((events.back().kind == Kind::stop));
      BOOST_TEST(events.back().version == std::ssize(history.updates));
      BOOST_TEST(events.back().theta_hash != 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_ends_the_run_as_diverged) {
  class Spoilt : public FourTensors {
    double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override {
      const double loss = FourTensors::gradient(at, seed, batch, stream, out);
      return batch == 27 ? std::nan("") : loss;
    }
  };
  const Spoilt task;
  for (const char* spec : {"asgd", "ssgd"}) {
    const auto rule = fake::rule(spec);
    const History history = fake::run_on_threads(fake::job(task, *rule, 4, 1000), {.shards = 2});
    BOOST_TEST((history.status == History::Status::diverged));
    BOOST_TEST(contains(history.message, fmt::format("at update {}: worker ", history.updates.size())),
               history.message);
    BOOST_TEST(contains(history.message, "loss is nan (batch 27)"), history.message);
    for (const float value : history.theta) BOOST_REQUIRE(std::isfinite(value));
  }
}

BOOST_AUTO_TEST_CASE(parameters_that_are_not_finite_end_the_run_as_diverged) {
  const fake::Ones task;
  const PlainRule rule;
  Job job = fake::job(task, rule, 2, 20);
  job.schedule = Schedule({.peak = 1e38});
  job.evaluate_every = 10;
  fake::Recorder heard;
  const History history = run_threads(job, {}, heard);
  BOOST_TEST((history.status == History::Status::diverged));
  BOOST_TEST(history.message == "at update 9: parameters are not finite any more");
}

// An evaluation that takes long: training goes on beside it, and what is due meanwhile is put off, not piled up.
BOOST_AUTO_TEST_CASE(workers_do_not_wait_for_evaluations) {
  FourTensors task;
  const PlainRule rule;
  std::atomic<int> begun = 0, seen_by_the_first = 0;
  task.on_evaluate = [&] {
    if (begun++ != 0) return;
    wait_until([&] { return task.gradients >= 500; });
    seen_by_the_first = task.gradients.load();
  };
  Job job = fake::job(task, rule, 3, 500);
  job.evaluate_every = 10;
  const History history = fake::run_on_threads(job);
  BOOST_TEST(seen_by_the_first >= 500);
  BOOST_TEST(history.evaluations.size() == 50u);
  for (size_t i = 0; i < history.evaluations.size(); ++i)
    BOOST_TEST(history.evaluations[i].gradients == 10 * static_cast<int64_t>(i + 1));
}

BOOST_AUTO_TEST_CASE(faults_of_rule_gate_and_observer_end_the_run) {
  const FourTensors task;
  PlainRule rule;
  rule.on_apply = [](WorkerId, View, const StepInfo& info) {
    if (info.accepted == 20) throw std::runtime_error("bad rule");
  };
  for (const char* gate : {"async", "bsp"}) {
    Job job = fake::job(task, rule, 4, 1000);
    job.gate = fake::gate(gate);
    const std::string message = error_of([&] { fake::run_on_threads(job, {.shards = 2}); });
    BOOST_TEST(contains(message, "update 20: worker "), message);
    BOOST_TEST(contains(message, "bad rule"), message);
  }

  struct Hasty : Bsp {
    Verdict arrive(WorkerId, int64_t) override { return {.release = {0, 1}}; }
  };
  const PlainRule plain;
  Job job = fake::job(task, plain, 2, 1000);
  job.gate = [] { return std::make_unique<Hasty>(); };
  BOOST_TEST(contains(error_of([&] { fake::run_on_threads(job); }), "go on, which is at work"));

  struct Full : Observer {
    void on_event(int, const Event& event) override {
      if (event.version == 30) throw Error("the disk is full");
    }
  } full;
  BOOST_TEST(error_of([&] { run_threads(fake::job(task, plain, 4, 100'000'000), {}, full); }) == "the disk is full");
}

// The gradient comes back only when the observer has been told twice: after note_after and after fail_after.
BOOST_AUTO_TEST_CASE(who_waits_says_for_whom_and_not_for_ever) {
  for (const char* gate : {"bsp", "async"}) {
    FourTensors task;
    const PlainRule rule;
    Listener listener;
    task.on_gradient = [&](int64_t batch) {
      if (batch >= 10 && (batch == 10 || gate == std::string("async"))) wait_until([&] { return listener.heard >= 2; });
    };
    Job job = fake::job(task, rule, 3, 1000);
    job.gate = fake::gate(gate);
    const std::string message = error_of([&] { run_threads(job, {.note_after = 0.05, .fail_after = 0.3}, listener); });
    BOOST_REQUIRE(listener.notes.size() >= 2u);
    const bool barrier = gate == std::string("bsp");
    const std::string told = barrier ? " wait at the gate, for " : "no message has come for ";
    const std::string missing = barrier ? " is at work; worker " : " are at work; worker ";
    for (const std::string& text : {listener.notes[0], listener.notes[1], message}) {
      BOOST_TEST(contains(text, barrier ? told : "no message has come"), text);
      BOOST_TEST(contains(text, missing), text);
      BOOST_TEST(contains(text, " began its gradient "), text);
    }
    BOOST_TEST(contains(message, "threads: "), message);
  }
}

// For the test below, which starts this program again.
BOOST_AUTO_TEST_CASE(hang, *boost::unit_test::disabled()) {
  FourTensors task;
  const PlainRule rule;
  task.on_gradient = [&](int64_t batch) {
    if (batch == 10) std::this_thread::sleep_for(std::chrono::seconds(60));
  };
  Job job = fake::job(task, rule, 3, 1000);
  job.gate = fake::gate("bsp");
  fake::run_on_threads(job, {.note_after = 0.05, .fail_after = 0.2});
}

BOOST_AUTO_TEST_CASE(a_thread_that_never_comes_back_ends_the_process) {
  char path[4096] = {};
  BOOST_REQUIRE(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  const auto start = std::chrono::steady_clock::now();
  FILE* output = popen(fmt::format("'{}' --run_test=threads_end/hang 2>&1", path).c_str(), "r");
  BOOST_REQUIRE(output != nullptr);
  std::string text;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
  const int status = pclose(output);
  BOOST_TEST(WEXITSTATUS(status) == 1);
  BOOST_TEST(contains(text, "not all threads have ended"), text);
  BOOST_TEST(contains(text, "the process ends"), text);
  BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(40)));
}

BOOST_AUTO_TEST_CASE(jobs_that_cannot_run_are_refused) {
  const FourTensors task;
  PlainRule rule;
  const auto error_with = [&](const ThreadsOptions& options, const std::function<void(Job&)>& change = {}) {
    Job job = fake::job(task, rule, 2, 10);
    if (change) change(job);
    return error_of([&] { fake::run_on_threads(job, options); });
  };
  BOOST_TEST(contains(error_with({}, [](Job& j) { j.workers = 0; }), "threads: 0 workers"));
  BOOST_TEST(contains(error_with({.shards = 5}), "use 1 to 4"));
  BOOST_TEST(contains(error_with({.shards = 0}), "use 1 to 4"));
  BOOST_TEST(contains(error_with({.cores = {100'000}}), "core 100000 is none of those that this process may use: "));
  BOOST_TEST(contains(error_with({.cores = {-1}}), "core -1"));
  BOOST_TEST(contains(error_with({.note_after = 0}), "must be positive"));
  const auto ssgd = fake::rule("ssgd");
  for (const char* gate : {"async", "ssp"})
    BOOST_TEST(contains(error_with({},
                                   [&](Job& j) {
                                     j.rule = ssgd.get();
                                     j.gate = fake::gate(gate);
                                   }),
                        "takes a step at the end of a round"));
  class Whole : public PlainRule {
    bool shardable() const override { return false; }
  };
  const Whole whole;
  BOOST_TEST(contains(error_with({.shards = 2}, [&](Job& j) { j.rule = &whole; }), "give it 1 shard, not 2"));
  BOOST_TEST(error_with({.shards = 1}, [&](Job& j) { j.rule = &whole; }) == "");

  setenv("OMP_PROC_BIND", "true", 1);
  BOOST_TEST(contains(error_with({}), "OMP_PROC_BIND=true would confine"));
  setenv("OMP_PROC_BIND", "FALSE", 1);
  BOOST_TEST(error_with({}) == "");
  unsetenv("OMP_PROC_BIND");
}

BOOST_AUTO_TEST_SUITE_END()
