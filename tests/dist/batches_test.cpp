// Rules with several minibatches to a message, in every engine: a local loop whose gradients are counted one by one.

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "dist/replay/replay.h"
#include "dist/snapshot/fields.h"
#include "tests/dist/snapshot_fake.h"

using namespace tg;
using fake::FourTensors;
using fake::Keeper;
using Kind = Event::Kind;

namespace {

constexpr int64_t kBatches = 3, kGradients = 100, kMessages = 34;  // the last of one gradient

// Goes along its own path for as many batches as there are, and sends the sum of the gradients on it.
class LocalRule : public Rule {
 public:
  class LocalWorker : public Worker {
   public:
    explicit LocalWorker(const LocalRule& rule) : rule_(rule) {}
    void work(View reply, const StepInfo& info, Oracle& oracle, Span message) override {
      std::vector<float> x(reply.begin(), reply.end()), gradient(x.size());
      const Span g(gradient.data(), reply.size);
      std::fill(message.begin(), message.end(), 0.0f);
      for (int64_t asked = 1;; ++asked) {
        oracle.gradient({x.data(), reply.size}, g);
        for (int64_t i = 0; i < reply.size; ++i) {
          message[i] += g[i];
          x[static_cast<size_t>(i)] -= info.learning_rate * g[i];
        }
        if (asked == rule_.most_asked || !oracle.next_batch()) return;
        if (rule_.skips) oracle.next_batch();
      }
    }

   private:
    const LocalRule& rule_;
  };
  std::unique_ptr<Gate> gate() const override { return asgd->gate(); }
  std::unique_ptr<Update> update(const Layout& layout, View initial) const override {
    return plain.on_apply ? plain.update(layout, initial) : asgd->update(layout, initial);
  }
  std::unique_ptr<Worker> worker(WorkerId, const Layout&) const override {
    return std::make_unique<LocalWorker>(*this);
  }
  int64_t batches() const override { return batches_to_a_message; }

  std::unique_ptr<Rule> asgd = fake::rule("asgd");
  fake::PlainRule plain;  // for its hook, where there is one
  int64_t batches_to_a_message = kBatches;
  int64_t most_asked = 1000;
  bool skips = false;
};

Job local_job(const Task& task, const Rule& rule, int workers, const char* gate = "async") {
  Job job = fake::job(task, rule, workers, kGradients);
  job.schedule = Schedule({.peak = 0.01, .warmup = 20, .drops = {70}});
  job.gate = fake::gate(gate);
  job.evaluate_every = 10;
  job.seed = 3;
  return job;
}

int64_t gradients_in(const std::vector<UpdateRecord>& updates) {
  return std::accumulate(updates.begin(), updates.end(), int64_t{0},
                         [](int64_t sum, const UpdateRecord& update) { return sum + update.gradients; });
}

// What holds of every run to its end, on any engine.
void check_run(const History& history, const fake::Recorder& heard) {
  BOOST_TEST((history.status == History::Status::finished));
  BOOST_TEST(std::ssize(history.updates) == kMessages);
  BOOST_TEST(gradients_in(history.updates) == kGradients);
  BOOST_TEST(history.evaluations.back().gradients == kGradients);
  BOOST_TEST(history.evaluations.back().epoch == 10);
  int64_t assigned = 0;
  for (const Event& event : heard.events)
    if (event.kind == Kind::assign) BOOST_TEST(event.batch == kBatches * assigned++);
  BOOST_TEST(heard.events.back().version == kMessages);
}

Replayed again(const Job& job, const fake::Recorder& heard) {
  std::vector<EventLog> logs;
  for (const auto& events : heard.shards) logs.push_back({.header = {}, .events = events});
  Observer nobody;
  return replay(job, logs, {.pool_threads = 2}, nobody);
}

void check_replay(const Job& job, const History& history, const fake::Recorder& heard) {
  const Replayed replayed = again(job, heard);
  BOOST_TEST(replayed.difference == "");
  BOOST_TEST(replayed.whole);
  BOOST_TEST(replayed.history.theta == history.theta, boost::test_tools::per_element());
  BOOST_REQUIRE(replayed.history.updates.size() == history.updates.size());
  for (size_t i = 0; i < history.updates.size(); ++i) {
    const UpdateRecord &a = replayed.history.updates[i], &b = history.updates[i];
    BOOST_TEST((a.batch == b.batch && a.gradients == b.gradients && a.lag == b.lag && a.loss == b.loss &&
                a.learning_rate == b.learning_rate));
  }
  BOOST_REQUIRE(replayed.history.evaluations.size() == history.evaluations.size());
  for (size_t i = 0; i < history.evaluations.size(); ++i)
    BOOST_TEST(replayed.history.evaluations[i].gradients == history.evaluations[i].gradients);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(several_batches_to_a_message)

// One worker is sequential SGD over the same batches with the same draws, but for the rate, which it is told once for
// each message.
BOOST_AUTO_TEST_CASE(one_worker_in_the_simulator) {
  const FourTensors task;
  LocalRule rule;
  std::vector<int64_t> accepted;
  rule.plain.on_apply = [&](WorkerId, View, const StepInfo& info) { accepted.push_back(info.accepted); };
  const Job job = local_job(task, rule, 1);
  fake::Recorder heard;
  const History history = simulate(job, {.pool_threads = 2}, heard);
  check_run(history, heard);
  BOOST_TEST(task.gradients == kGradients);  // none too many

  const int64_t size = task.layout().size();
  std::vector<float> theta(static_cast<size_t>(size)), gradient(theta);
  const Span x(theta.data(), size), g(gradient.data(), size);
  task.initial(3, x);
  GammaClock clock({}, 1, Stream(3).split("clock"));
  double time = 0;
  for (int64_t m = 0; m < kMessages; ++m) {
    const int64_t first = kBatches * m, end = std::min(first + kBatches, kGradients);
    const float rate = job.schedule.rate(first);
    double loss = 0;
    for (int64_t t = first; t < end; ++t) {
      loss += task.gradient(x, 3, t, Stream(3).split("worker", 0).split("step", static_cast<uint64_t>(t)), g);
      for (int64_t i = 0; i < size; ++i) x[i] -= rate * g[i];
      time += clock.duration(0, t);
    }
    const UpdateRecord& update = history.updates[static_cast<size_t>(m)];
    BOOST_TEST(accepted[static_cast<size_t>(m)] == first);
    BOOST_TEST(update.batch == first);
    BOOST_TEST(update.gradients == end - first);
    BOOST_TEST(update.learning_rate == rate);
    BOOST_TEST(update.loss == loss / static_cast<double>(end - first), boost::test_tools::tolerance(1e-4));
    BOOST_TEST(update.time == time, boost::test_tools::tolerance(1e-12));
  }
  for (size_t i = 0; i < theta.size(); ++i) BOOST_TEST(std::abs(history.theta[i] - theta[i]) < 1e-5f);
}

// With the first message that comes to the number.
BOOST_AUTO_TEST_CASE(evaluations_and_snapshots_come_after_so_many_gradients) {
  const TemporaryFolder folder;
  const FourTensors task;
  const LocalRule rule;
  Job job = local_job(task, rule, 4);
  job.snapshot_every = 20;
  Keeper heard(folder / "snapshot");
  const History history = simulate(job, {.pool_threads = 2}, heard);
  check_run(history, heard);
  std::vector<int64_t> evaluated;
  for (const EvaluationRecord& evaluation : history.evaluations) evaluated.push_back(evaluation.gradients);
  BOOST_TEST(evaluated == (std::vector<int64_t>{12, 21, 30, 42, 51, 60, 72, 81, 90, 100}),
             boost::test_tools::per_element());
  BOOST_TEST(heard.at == (std::vector<int64_t>{21, 42, 60, 81}), boost::test_tools::per_element());
  double losses = 0;
  for (size_t i = 0; i < 4; ++i) losses += history.updates[i].loss;
  BOOST_TEST(history.evaluations[0].train_loss == losses / 4, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(simulated_runs_and_their_replays) {
  const FourTensors task;
  const LocalRule rule;
  for (const char* gate : {"async", "ssp:bound=1", "bsp:backup=1"}) BOOST_TEST_CONTEXT(gate) {
      const Job job = local_job(task, rule, 4, gate);
      fake::Recorder heard;
      const History history =
          simulate(job, {.clock = {.heterogeneous = true}, .link = {.latency = 3}, .pool_threads = 2}, heard);
      check_run(history, heard);
      check_replay(job, history, heard);
    }
}

BOOST_AUTO_TEST_CASE(runs_on_threads_and_their_replays) {
  const FourTensors task;
  const LocalRule rule;
  for (const char* gate : {"async", "ssp:bound=1", "bsp:backup=1"})
    for (const int shards : {1, 3}) BOOST_TEST_CONTEXT(gate << " on " << shards) {
        const Job job = local_job(task, rule, 4, gate);
        fake::Recorder heard;
        const History history = run_threads(job, {.shards = shards}, heard);
        check_run(history, heard);
        check_replay(job, history, heard);
      }
}

BOOST_AUTO_TEST_CASE(a_simulated_run_goes_on_from_any_snapshot) {
  const FourTensors task;
  const LocalRule rule;
  for (const int64_t stop_after : {1, 16, 33}) BOOST_TEST_CONTEXT(stop_after) {
      const TemporaryFolder folder;
      Job job = local_job(task, rule, 4);
      fake::Recorder whole;
      const History all = simulate(job, {.pool_threads = 2}, whole);
      job.snapshot_every = 1000;
      Keeper parts(folder / "snapshot");
      parts.stop_after = stop_after;
      simulate(job, {.pool_threads = 2}, parts);
      BOOST_REQUIRE(parts.at == std::vector<int64_t>{kBatches * stop_after});
      parts.cut();
      SnapshotFile file(folder / "snapshot");
      job.resume = &file;
      const History ended = simulate(job, {.pool_threads = 2}, parts);
      check_run(ended, parts);
      BOOST_TEST(ended.theta == all.theta, boost::test_tools::per_element());
      BOOST_TEST((parts.events == whole.events));
      BOOST_TEST(gradients_in(parts.updates) == kGradients);
    }
}

BOOST_AUTO_TEST_CASE(a_run_on_threads_goes_on_from_a_snapshot) {
  const TemporaryFolder folder;
  FourTensors task;
  task.on_gradient = [](int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(500)); };
  const LocalRule rule;
  Job job = local_job(task, rule, 3);
  job.snapshot_every = 1000;
  Keeper heard(folder / "snapshot");
  heard.stop_after = 8;
  run_threads(job, {.shards = 2}, heard);
  BOOST_REQUIRE(heard.at.size() == 1u);
  BOOST_TEST(heard.at[0] >= 8 * kBatches);
  heard.cut();
  SnapshotFile file(folder / "snapshot");
  Job rest = job;
  rest.resume = &file;
  const History history = run_threads(rest, {.shards = 2}, heard);
  check_run(history, heard);
  check_replay(job, history, heard);
}

BOOST_AUTO_TEST_CASE(a_rule_with_other_messages_cannot_be_run_on_the_arrivals) {
  const FourTensors task;
  LocalRule three, one, five;
  one.batches_to_a_message = 1;
  five.batches_to_a_message = 5;
  fake::Recorder heard, heard_one;
  simulate(local_job(task, three, 4), {.pool_threads = 2}, heard);
  simulate(local_job(task, one, 4), {.pool_threads = 2}, heard_one);
  for (const Rule* other : {&one, &five})
    BOOST_TEST(contains(
        error_of([&] { again(local_job(task, *other, 4), heard); }),
        fmt::format("the run's messages are of 3 minibatches each, those of this rule of {}", other->batches())));
  BOOST_TEST(contains(error_of([&] { again(local_job(task, three, 4), heard_one); }), "of 1 minibatches each"));
}

BOOST_AUTO_TEST_CASE(a_worker_asks_for_a_gradient_of_each_batch) {
  const FourTensors task;
  LocalRule lazy, skips;
  lazy.most_asked = 2;
  skips.skips = true;
  BOOST_TEST(contains(error_of([&] { fake::run(local_job(task, lazy, 2)); }), "of each of its batches: of 2 of 3"));
  BOOST_TEST(contains(error_of([&] { fake::run(local_job(task, skips, 2)); }), "without asking for a gradient"));
  LocalRule none;
  none.batches_to_a_message = 0;
  BOOST_TEST(contains(error_of([&] { fake::run(local_job(task, none, 2)); }), "messages of 0 minibatches"));
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_names_the_batches) {
  class Breaks : public FourTensors {
   public:
    double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override {
      const double loss = FourTensors::gradient(at, seed, batch, stream, out);
      return batch == 31 ? std::numeric_limits<double>::infinity() : loss;
    }
  };
  const Breaks task;
  const LocalRule rule;
  const History history = fake::run(local_job(task, rule, 1));
  BOOST_TEST((history.status == History::Status::diverged));
  BOOST_TEST(history.message == "at update 10: worker 0's loss is inf (batches 30 to 32)");
}

BOOST_AUTO_TEST_SUITE_END()
