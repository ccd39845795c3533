// Snapshots of runs on threads: what goes on from one is one run, whose events replay to the same parameters.

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/dist/replay_fake.h"
#include "tests/dist/snapshot_fake.h"

using namespace tg;
using fake::FourTensors;
using fake::Keeper;
using fake::logs_of;
using Kind = Event::Kind;

namespace {

// Gradients that are slow enough for those who keep the books to see the run before it is over, and slower near its end
// while a snapshot is still to come.
void take_time(const Keeper& heard, bool near_end, int snapshots) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  for (int i = 0; i < 20 && near_end && heard.taken < snapshots; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// Counts the notes for other threads.
struct NoteCounter : Keeper {
  using Keeper::Keeper;
  void on_note(const std::string& note) override {
    Keeper::on_note(note);
    ++noted;
  }
  std::atomic<int> noted = 0;
};

struct Made {
  std::string rule;
  std::string gate{};
  int workers = 4;
  int shards = 1;
  bool with_state = false;
  bool hogwild = false;
  int64_t gradients = 400;

  template <class Use>
  auto with_job(Use&& use) const {
    FourTensors task;
    std::unique_ptr<Rule> made = fake::rule(rule);
    if (with_state) made = std::make_unique<fake::RememberingRule>(std::move(made));
    Job job = fake::job(task, *made, made->sequential() ? 1 : workers, gradients);
    job.schedule = Schedule({.peak = 0.002, .warmup = 100, .drops = {200}});
    if (!gate.empty()) job.gate = fake::gate(gate);
    if (with_state) job.codec_up = job.codec_down = fake::make_feedback_codec;
    job.evaluate_every = 50;
    return use(task, job);
  }
  // So that at least `snapshots` have been taken at its end.
  History run(Keeper& heard, int64_t snapshot_every, int snapshots, SnapshotFile* resume = nullptr) const {
    return with_job([&](FourTensors& task, Job& job) {
      task.on_gradient = [&](int64_t batch) { take_time(heard, batch > gradients / 2, snapshots); };
      job.snapshot_every = snapshot_every;
      job.resume = resume;
      return run_threads(job, {.shards = shards, .hogwild = hogwild}, heard);
    });
  }
};

// One run in the end: every update once, in order, with times that grow, and a replay that ends where it did.
void check_whole(const Made& made, const Keeper& heard, const History& history) {
  BOOST_TEST((history.status == History::Status::finished));
  BOOST_REQUIRE(std::ssize(history.updates) == (made.gradients - 1) / fake::rule(made.rule)->batches() + 1);
  BOOST_TEST(heard.updates.size() == history.updates.size());
  for (size_t i = 0; i < history.updates.size(); ++i) {
    BOOST_REQUIRE(history.updates[i].update == static_cast<int64_t>(i));
    BOOST_REQUIRE(history.updates[i].time == heard.updates[i].time);
    BOOST_REQUIRE((i == 0 || history.updates[i].time >= history.updates[i - 1].time));
  }
  BOOST_TEST(history.evaluations.size() == heard.evaluations.size());
  for (size_t i = 1; i < history.evaluations.size(); ++i)
    BOOST_TEST(history.evaluations[i].gradients > history.evaluations[i - 1].gradients);
  if (made.hogwild) return;
  const Replayed replayed = made.with_job([&](const FourTensors&, const Job& job) {
    Observer nobody;
    return replay(job, logs_of(heard), {.pool_threads = 2}, nobody);
  });
  BOOST_TEST(replayed.difference == "");
  BOOST_TEST(replayed.whole);
  BOOST_TEST(replayed.history.theta == history.theta, boost::test_tools::per_element());
  BOOST_REQUIRE(replayed.history.updates.size() == history.updates.size());
  for (size_t i = 0; i < history.updates.size(); ++i) {
    const UpdateRecord &a = replayed.history.updates[i], &b = history.updates[i];
    BOOST_REQUIRE((a.worker == b.worker && a.batch == b.batch && a.lag == b.lag && a.loss == b.loss &&
                   a.bytes_up == b.bytes_up && a.bytes_down == b.bytes_down));
  }
  for (size_t i = 0; i < history.evaluations.size(); ++i)
    BOOST_TEST(replayed.history.evaluations.at(i).train_loss == history.evaluations[i].train_loss);
}

// Stopped, gone on with, left there as if it had been killed, and gone on with from its last snapshot.
void check_resumes(const Made& made) {
  const TemporaryFolder folder;
  Keeper heard(folder / "snapshot");
  const int64_t batches = fake::rule(made.rule)->batches();
  heard.stop_after = 60 / batches;
  const History begun = made.run(heard, 1'000'000, 1);
  BOOST_TEST((begun.status == History::Status::stopped));
  BOOST_REQUIRE(heard.at.size() == 1u);
  BOOST_TEST(heard.at[0] >= 60 / batches * batches);
  BOOST_TEST(batches * std::ssize(begun.updates) == heard.at[0]);
  heard.cut();
  {
    SnapshotFile file(folder / "snapshot");
    made.run(heard, made.gradients / 4, 2, &file);
    BOOST_TEST(heard.at.size() >= 2u);
  }
  heard.cut();
  SnapshotFile file(folder / "snapshot");
  const History ended = made.run(heard, 0, 0, &file);
  check_whole(made, heard, ended);
  BOOST_TEST(ended.gradient_seconds >= begun.gradient_seconds);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(snapshots_on_threads)

BOOST_AUTO_TEST_CASE(every_rule) {
  for (const SpecInfo& info : rule_infos())
    for (const int shards : {1, fake::rule(info.name)->shardable() ? 3 : 1}) {
      BOOST_TEST_CONTEXT(info.name << " on " << shards << " shards") {
        check_resumes({.rule = info.name, .shards = shards});
      }
    }
}

BOOST_AUTO_TEST_CASE(gates_and_anything_that_keeps_state) {
  for (const char* gate : {"", "bsp", "bsp:backup=2", "ssp:bound=0", "ssp:bound=2"})
    for (const bool with_state : {false, true}) {
      BOOST_TEST_CONTEXT(gate << (with_state ? ", with state" : "")) {
        check_resumes({.rule = "dana-zero", .gate = gate, .workers = 8, .shards = 2, .with_state = with_state});
      }
    }
}

BOOST_AUTO_TEST_CASE(hogwild) { check_resumes({.rule = "asgd", .hogwild = true}); }

// Also where evaluations last longer than the time between snapshots.
BOOST_AUTO_TEST_CASE(taking_snapshots_disturbs_nothing) {
  for (const char* gate : {"", "bsp:backup=1"}) {
    const TemporaryFolder folder;
    Keeper heard(folder / "snapshot");
    const Made made{.rule = "dc-asgd-a", .gate = gate, .workers = 8, .shards = 3, .gradients = 600};
    check_whole(made, heard, made.run(heard, 10, 3));
    BOOST_TEST(heard.at.size() >= 3u);
    for (size_t i = 1; i < heard.at.size(); ++i) BOOST_TEST(heard.at[i] >= heard.at[i - 1] / 10 * 10 + 10);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_worker_stays_lost) {
  for (const char* gate : {"", "bsp"}) {
    const TemporaryFolder folder;
    Keeper heard(folder / "snapshot");
    FourTensors task;
    const auto rule = fake::rule("dana-zero");
    Job job = fake::job(task, *rule, 4, 300);
    if (*gate != 0) job.gate = fake::gate(gate);
    job.schedule = Schedule({.peak = 0.002});
    job.snapshot_every = 1'000'000;
    task.on_gradient = [&](int64_t batch) {
      take_time(heard, batch > 100, 1);
      if (batch == 20) throw std::runtime_error("the cable is out");
    };
    heard.stop_after = 50;
    const History begun = run_threads(job, {}, heard);
    BOOST_REQUIRE(begun.lost.size() == 1u);
    heard.cut();
    SnapshotFile file(folder / "snapshot");
    job.resume = &file;
    task.on_gradient = nullptr;
    const History ended = run_threads(job, {}, heard);
    BOOST_TEST((ended.status == History::Status::finished));
    BOOST_REQUIRE(ended.lost.size() == 1u);
    BOOST_TEST(ended.lost[0].worker == begun.lost[0].worker);
    BOOST_TEST(ended.lost[0].reason == "batch 20: the cable is out");
    Observer nobody;
    job.resume = nullptr;
    BOOST_TEST(replay(job, logs_of(heard), {.pool_threads = 2}, nobody).history.theta == ended.theta);
  }
}

// The slowest worker is waited for; a run that ends while others rest for a snapshot ends.
BOOST_AUTO_TEST_CASE(a_worker_that_is_slow_or_lost_while_the_others_rest) {
  for (const bool lost : {false, true}) {
    const TemporaryFolder folder;
    NoteCounter heard(folder / "snapshot");
    FourTensors task;
    task.on_gradient = [&](int64_t batch) {
      if (batch != 30) return;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (heard.noted == 0 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (lost) throw std::runtime_error("the cable is out");
    };
    const auto rule = fake::rule("asgd");
    Job job = fake::job(task, *rule, 3, 2'000'000'000);
    job.snapshot_every = 40;
    heard.stop_after = 40;
    const History history = run_threads(job, {.note_after = 0.03}, heard);
    BOOST_TEST((history.status == History::Status::stopped));
    BOOST_REQUIRE(!heard.at.empty());
    BOOST_TEST(std::ssize(history.updates) == heard.at.back());
    BOOST_TEST(history.lost.size() == (lost ? 1u : 0u));
    BOOST_REQUIRE(!heard.notes.empty());
    BOOST_TEST(contains(heard.notes[0], "no message has come"));
    BOOST_TEST(contains(heard.notes[0], " is at work; worker "));
  }
}

BOOST_AUTO_TEST_SUITE_END()
