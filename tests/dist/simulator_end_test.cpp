// How a simulated run ends: finished, stopped, diverged or with an error; and what it leaves running.

#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "dist/ahead_pool.h"
#include "dist/cores.h"
#include "tests/dist/fake.h"
#include "tests/errors.h"

using namespace tg;
using fake::PlainRule;
using fake::QuadraticTask;

namespace {

// A task whose gradients can be spoilt.
class SpoiltTask : public QuadraticTask {
 public:
  double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override {
    const double loss = QuadraticTask::gradient(at, seed, batch, stream, out);
    return batch == bad_batch ? bad_loss : loss;
  }
  std::string where_not_finite(View, uint64_t, int64_t batch, const Stream&) const override {
    return where.empty() ? "" : fmt::format("{} in batch {}", where, batch);
  }
  std::string where;
  int64_t bad_batch = -1;
  double bad_loss = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulator_end)

BOOST_AUTO_TEST_CASE(a_finished_run_has_everything) {
  const QuadraticTask task;
  const PlainRule rule;
  Job job = fake::job(task, rule, 4, 50);
  job.evaluate_every = 20;
  fake::Recorder heard;
  const History history = simulate(job, {.pool_threads = 2}, heard);
  BOOST_TEST((history.status == History::Status::finished));
  BOOST_TEST(name_of(history.status) == std::string("finished"));
  BOOST_TEST(history.message == "");
  BOOST_TEST(history.updates.size() == 50u);
  BOOST_TEST(history.updates.size() == heard.updates.size());
  BOOST_REQUIRE(history.evaluations.size() == 3u);
  for (size_t i = 0; i < 3; ++i) {
    BOOST_TEST(history.evaluations[i].gradients == std::min<int64_t>(20 * static_cast<int64_t>(i + 1), 50));
    BOOST_TEST(heard.evaluations[i].gradients == history.evaluations[i].gradients);
  }
  double losses = 0;
  for (size_t i = 20; i < 40; ++i) losses += history.updates[i].loss;
  BOOST_TEST(std::abs(history.evaluations[1].train_loss - losses / 20) < 1e-12);
  BOOST_TEST(history.evaluations[2].test_loss == task.evaluate({history.theta.data(), task.layout().size()}, 1).loss);
  BOOST_TEST(history.virtual_time == history.updates.back().time);
  BOOST_TEST(history.seconds > 0);
  BOOST_TEST(history.gradient_seconds > 0);
  BOOST_TEST(history.update_seconds > 0);
}

BOOST_AUTO_TEST_CASE(evaluation_at_the_end_alone) {
  const QuadraticTask task;
  const PlainRule rule;
  const History history = fake::run(fake::job(task, rule, 2, 7));
  BOOST_REQUIRE(history.evaluations.size() == 1u);
  BOOST_TEST(history.evaluations[0].gradients == 7);
}

// The first evaluation lasts until all gradients are computed, and is still reported first.
BOOST_AUTO_TEST_CASE(evaluations_run_beside_and_are_reported_in_order) {
  QuadraticTask task;
  const PlainRule rule;
  std::atomic<int> begun = 0, seen_by_the_first = 0;
  task.on_evaluate = [&] {
    if (begun++ != 0) return;
    for (int wait = 0; wait < 20'000 && task.gradients < 100; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    seen_by_the_first = task.gradients.load();
  };
  Job job = fake::job(task, rule, 4, 100);
  job.evaluate_every = 10;
  fake::Recorder heard;
  simulate(job, {.pool_threads = 2}, heard);
  BOOST_REQUIRE(heard.evaluations.size() == 10u);
  for (size_t i = 0; i < 10; ++i) BOOST_TEST(heard.evaluations[i].gradients == 10 * static_cast<int64_t>(i + 1));
  BOOST_TEST(seen_by_the_first >= 100);
}

BOOST_AUTO_TEST_CASE(work_that_cannot_matter_is_not_begun) {
  const PlainRule rule;
  for (const int workers : {1, 2, 8, 64})
    for (const int threads : {1, 2}) {
      const QuadraticTask in_turns, in_any_order;
      const Job job = fake::job(in_turns, rule, workers, 10);
      fake::run(job, {.clock = {.variation = 0}, .pool_threads = threads});
      BOOST_TEST(in_turns.gradients == 10);
      // What was computed ahead may turn out to arrive after what was assigned later: no more than is still needed.
      fake::run(fake::job(in_any_order, rule, workers, 10), {.pool_threads = threads});
      BOOST_TEST(in_any_order.gradients >= 10);
      BOOST_TEST(in_any_order.gradients <= (workers == 1 ? 10 : 20));
    }
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_ends_the_run_as_diverged) {
  const PlainRule rule;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double loss : {std::numeric_limits<double>::quiet_NaN(), infinity}) {
    SpoiltTask task;
    task.bad_batch = 27;
    task.bad_loss = loss;
    Job job = fake::job(task, rule, 4, 100);
    job.codec_up = fake::rounding(0.01f);
    job.evaluate_every = 10;
    fake::Recorder heard;
    const History history = simulate(job, {.clock = {.variation = 0}, .pool_threads = 2}, heard);
    BOOST_TEST((history.status == History::Status::diverged));
    BOOST_TEST(history.message == fmt::format("at update 27: worker 3's loss is {} (batch 27)", loss));
    BOOST_TEST(history.updates.size() == 27u);
    BOOST_TEST(history.evaluations.size() == 2u);
    BOOST_TEST((heard.events.back().kind != Event::Kind::finish));
    for (const float value : history.theta) BOOST_REQUIRE(std::isfinite(value));
  }
}

BOOST_AUTO_TEST_CASE(the_task_says_where_a_loss_stopped_being_finite) {
  const PlainRule rule;
  SpoiltTask task;
  task.bad_batch = 5;
  task.where = "exp [3]";
  const History history = fake::run(fake::job(task, rule, 1, 100));
  BOOST_TEST(history.message == "at update 5: worker 0's loss is nan (batch 5); first not finite: exp [3] in batch 5");
}

BOOST_AUTO_TEST_CASE(parameters_that_are_not_finite_end_the_run_as_diverged) {
  const fake::ConstantTask task;
  PlainRule rule;
  Job job = fake::job(task, rule, 1, 100);
  job.schedule = Schedule({.peak = 1e38});
  job.evaluate_every = 10;
  const History history = fake::run(job);
  BOOST_TEST((history.status == History::Status::diverged));
  BOOST_TEST(history.message == "at update 9: parameters are not finite any more");
  BOOST_TEST(history.updates.size() == 10u);
  BOOST_TEST(history.evaluations.empty());
}

BOOST_AUTO_TEST_CASE(a_test_loss_that_is_not_finite_counts_as_diverged) {
  class LostTask : public QuadraticTask {
    Evaluation evaluate(View, uint64_t) const override { return {std::nan(""), 90}; }
  };
  const LostTask task;
  const PlainRule rule;
  const History history = fake::run(fake::job(task, rule, 2, 10));
  BOOST_TEST((history.status == History::Status::diverged));
  BOOST_TEST(history.message == "after 10 gradients: the test loss is nan");
  BOOST_TEST(history.evaluations.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_stop_keeps_what_is_done) {
  const QuadraticTask task;
  const PlainRule rule;
  Job job = fake::job(task, rule, 4, 1000);
  const History whole = fake::run(job);
  job.evaluate_every = 10;
  fake::Recorder heard;
  heard.stop_after = 35;
  const History history = simulate(job, {.pool_threads = 2}, heard);
  BOOST_TEST((history.status == History::Status::stopped));
  BOOST_TEST(history.updates.size() == 35u);
  BOOST_TEST(history.evaluations.size() <= 3u);
  for (size_t i = 0; i < 35; ++i) BOOST_TEST(history.updates[i].loss == whole.updates[i].loss);
  BOOST_TEST(history.theta.size() == whole.theta.size());
  BOOST_TEST((heard.events.back().kind != Event::Kind::finish));
}

BOOST_AUTO_TEST_CASE(what_a_task_throws_names_worker_batch_and_updates) {
  const PlainRule rule;
  for (const int threads : {1, 8}) {
    QuadraticTask task;
    task.on_gradient = [](int64_t batch) {
      if (batch >= 6) throw std::runtime_error("the disk is gone");
    };
    const std::string message = error_of(
        [&] { fake::run(fake::job(task, rule, 4, 100), {.clock = {.variation = 0}, .pool_threads = threads}); });
    BOOST_TEST(message == "update 6: worker 2, batch 6: the disk is gone");
  }
  QuadraticTask task;
  task.on_evaluate = [] { throw Error("no test set"); };
  BOOST_TEST(error_of([&] { fake::run(fake::job(task, rule, 4, 30)); }) ==
             "evaluation after 30 gradients: no test set");
}

BOOST_AUTO_TEST_CASE(a_message_without_a_gradient_is_an_error) {
  class IdleRule : public PlainRule {
    class IdleWorker : public Worker {
      void work(View, const StepInfo&, Oracle&, Span) override {}
    };
    std::unique_ptr<Worker> worker(WorkerId, const Layout&) const override { return std::make_unique<IdleWorker>(); }
  };
  const QuadraticTask task;
  const IdleRule rule;
  BOOST_TEST(contains(error_of([&] { fake::run(fake::job(task, rule, 1, 1)); }), "without asking for a gradient"));
}

// Three rules' gates that are wrong.
BOOST_AUTO_TEST_CASE(gates_that_would_hang_or_confuse_a_run_are_errors) {
  struct Closed : Gate {
    Release join(WorkerId worker) override { return {worker}; }
    Verdict arrive(WorkerId, int64_t) override { return {}; }
    Release leave(WorkerId) override { return {}; }
  };
  struct Hasty : Closed {
    Verdict arrive(WorkerId, int64_t) override { return {.release = {0, 1}}; }
  };
  struct Mistaken : Closed {
    Verdict arrive(WorkerId, int64_t) override { return {.release = {2}}; }
  };
  const QuadraticTask task;
  const auto error_with = [&](auto gate) {
    PlainRule rule;
    rule.make_gate = [] { return std::make_unique<decltype(gate)>(); };
    return error_of([&] { fake::run(fake::job(task, rule, 2, 10), {.clock = {.variation = 0}, .pool_threads = 2}); });
  };
  BOOST_TEST(contains(error_with(Closed{}), "after 2 of 10 gradients the rule's gate lets no worker go on"));
  BOOST_TEST(contains(error_with(Hasty{}), "lets worker 1 go on, which is at work"));
  BOOST_TEST(contains(error_with(Mistaken{}), "lets worker 2 go on, which does not exist"));
}

BOOST_AUTO_TEST_CASE(jobs_that_cannot_run_are_refused) {
  const QuadraticTask task;
  PlainRule rule;
  const Job good = fake::job(task, rule, 2, 10);
  const auto error_with = [&](auto change) {
    Job job = good;
    SimulatorOptions options;
    change(job, options);
    return error_of([&] { fake::run(job, options); });
  };
  using J = Job;
  using O = SimulatorOptions;
  BOOST_TEST(contains(error_with([](J& j, O&) { j.task = nullptr; }), "lacks a task"));
  BOOST_TEST(contains(error_with([](J& j, O&) { j.codec_down = nullptr; }), "or a codec"));
  BOOST_TEST(contains(error_with([](J& j, O&) { j.workers = 0; }), "0 workers"));
  BOOST_TEST(contains(error_with([](J& j, O&) { j.workers = 1'000'000'000; }), "from 1 to 65536"));
  BOOST_TEST(contains(error_with([](J& j, O&) { j.gradients = 0; }), "at least 1"));
  BOOST_TEST(contains(error_with([](J& j, O&) { j.evaluate_every = -1; }), "every -1 gradients"));
  BOOST_TEST(contains(error_with([](J& j, O&) { j.threads_per_worker = 0; }), "0 threads per worker"));
  BOOST_TEST(contains(error_with([](J&, O& o) { o.pool_threads = -1; }), "pool of -1 threads"));
  BOOST_TEST(contains(error_with([](J&, O& o) { o.link.latency = -1; }), "link"));
  BOOST_TEST(contains(error_with([](J&, O& o) { o.link.time_per_byte = NAN; }), "link"));
  BOOST_TEST(contains(error_with([](J&, O& o) { o.clock.mean = 0; }), "mean task time"));
  rule.one_worker = true;
  BOOST_TEST(contains(error_with([](J&, O&) {}), "sequential: give it 1 worker, not 2"));
  BOOST_TEST(error_with([](J& j, O&) { j.workers = 1; }) == "");
}

BOOST_AUTO_TEST_CASE(gradients_and_evaluations_have_the_jobs_omp_threads) {
  for (const int threads_per_worker : {1, 3}) {
    QuadraticTask task;
    const PlainRule rule;
    std::mutex mutex;
    std::set<int> seen;
    const auto look = [&] {
      const std::lock_guard lock(mutex);
      seen.insert(omp_get_max_threads());
    };
    task.on_gradient = [&](int64_t) { look(); };
    task.on_evaluate = look;
    Job job = fake::job(task, rule, 2, 50);
    job.threads_per_worker = threads_per_worker;
    job.evaluate_every = 5;

    const int before = omp_get_max_threads();
    omp_set_num_threads(5);
    const std::vector<int> cores_before = usable_cores();
    fake::run(job, {.pool_threads = 2});
    BOOST_TEST(omp_get_max_threads() == 5);
    BOOST_TEST(usable_cores() == cores_before, boost::test_tools::per_element());
    omp_set_num_threads(before);
    BOOST_TEST(seen == std::set<int>{threads_per_worker}, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()
