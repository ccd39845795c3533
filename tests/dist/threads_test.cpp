// What a run on threads computes: the same as its rule says, whoever is first.

#include "dist/threads/threads.h"

#include <omp.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <mutex>
#include <set>

#include "dist/cores.h"
#include "dist/history/measure.h"
#include "optim/gates.h"
#include "tests/dist/allocations.h"
#include "tests/dist/threads_fake.h"

using namespace tg;
using fake::FourTensors;
using fake::PlainRule;
using Kind = Event::Kind;

namespace {

// Everything a run says of itself must agree with itself.
void check_events(const Job& job, const fake::Recorder& heard, int shards) {
  BOOST_REQUIRE(std::ssize(heard.shards) == shards);
  std::vector<std::set<int64_t>> taken(heard.shards.size());
  for (size_t s = 0; s < heard.shards.size(); ++s) {
    int64_t version = 0;
    double time = 0;
    std::map<WorkerId, int64_t> batch_of;
    for (const Event& event : heard.shards[s]) {
      BOOST_REQUIRE(event.time >= time);
      time = event.time;
      if (event.kind == Kind::arrive && event.taken) {
        ++version;
        BOOST_REQUIRE(taken[s].insert(event.batch).second);
      }
      BOOST_REQUIRE(event.version == version);
      if (event.kind == Kind::assign) BOOST_REQUIRE(batch_of.emplace(event.worker, event.batch).second);
      if (event.kind == Kind::arrive) {
        BOOST_REQUIRE(batch_of.at(event.worker) == event.batch);
        batch_of.erase(event.worker);
      }
    }
    BOOST_TEST(version == job.gradients);
    BOOST_TEST((heard.shards[s].back().kind == Kind::finish));
  }
  for (const auto& batches : taken) BOOST_TEST((batches == taken[0]));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(nothing_is_lost_and_nothing_counts_twice) {
  const fake::Ones task;
  const auto rule = fake::rule("asgd");
  Job job = fake::job(task, *rule, 8, 80'000);
  job.schedule = Schedule({.peak = 1});
  for (const int shards : {1, 3}) {
    const History history = fake::run_on_threads(job, {.shards = shards});
    BOOST_TEST((history.status == History::Status::finished));
    BOOST_TEST(history.updates.size() == 80'000u);
    for (const float value : history.theta) BOOST_REQUIRE(value == -80'000);
  }
  // In step, each worker pushes ten thousand.
  job.gate = fake::gate("ssp:bound=0");
  const History history = fake::run_on_threads(job);
  std::vector<int> pushes(8);
  for (const UpdateRecord& update : history.updates) ++pushes[static_cast<size_t>(update.worker)];
  for (const int count : pushes) BOOST_TEST(count == 10'000);
  for (const float value : history.theta) BOOST_REQUIRE(value == -80'000);
}

BOOST_AUTO_TEST_CASE(one_worker_is_the_simulators_one_worker_bit_for_bit) {
  const FourTensors task;
  for (const SpecInfo& info : rule_infos()) {
    const auto rule = fake::rule(info.name);
    Job job = fake::job(task, *rule, 1, 100);
    job.schedule = Schedule({.peak = 0.05, .warmup = 10, .drops = {60}});
    job.evaluate_every = 30;
    const History expected = fake::run(job);
    for (const int shards : {1, 2, 4}) {
      if (shards > 1 && !rule->shardable()) continue;
      const History history = fake::run_on_threads(job, {.shards = shards});
      BOOST_TEST_CONTEXT(info.name << " on " << shards << " shards") {
        BOOST_TEST(history.theta == expected.theta, boost::test_tools::per_element());
        BOOST_REQUIRE(std::ssize(history.updates) == job.messages());
        for (size_t i = 0; i < history.updates.size(); ++i) {
          const UpdateRecord &a = history.updates[i], &b = expected.updates[i];
          BOOST_REQUIRE((a.loss == b.loss && a.batch == b.batch && a.lag == b.lag &&
                         a.learning_rate == b.learning_rate && a.bytes_up == b.bytes_up &&
                         a.bytes_down == b.bytes_down));
          if (i % kGapShare == 0)
            BOOST_TEST(a.gap == b.gap);
          else
            BOOST_TEST(std::isnan(a.gap));
        }
        BOOST_REQUIRE(history.evaluations.size() == expected.evaluations.size());
        for (size_t i = 0; i < expected.evaluations.size(); ++i) {
          const EvaluationRecord &a = history.evaluations[i], &b = expected.evaluations[i];
          BOOST_TEST((a.gradients == b.gradients && a.epoch == b.epoch && a.train_loss == b.train_loss &&
                      a.test_loss == b.test_loss));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(shards_take_the_same_messages_each_in_its_own_order) {
  const FourTensors task;
  for (const char* spec : {"asgd", "dana-zero", "dc-asgd-a:mean-square=worker", "ssgd:backup=2"}) {
    const auto rule = fake::rule(spec);
    Job job = fake::job(task, *rule, 6, 600);
    job.schedule = Schedule({.peak = 0.001});  // a thread that the system holds up may be hundreds of updates late
    job.evaluate_every = 100;
    for (const int shards : {1, 3}) {
      fake::Recorder heard;
      const History history = run_threads(job, {.shards = shards}, heard);
      BOOST_TEST_CONTEXT(spec << " on " << shards << " shards") {
        check_events(job, heard, shards);
        BOOST_TEST(heard.updates.size() == 600u);
        for (size_t i = 0; i < 600; ++i) BOOST_REQUIRE(heard.updates[i].update == static_cast<int64_t>(i));
        BOOST_TEST(history.evaluations.size() == 6u);
        const Evaluation last = task.evaluate({history.theta.data(), task.layout().size()}, 1);
        BOOST_TEST(history.evaluations.back().test_loss == last.loss);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(synchronous_rounds_are_those_of_the_simulator) {
  const FourTensors task;
  const auto rule = fake::rule("ssgd:momentum=0.5");
  const Job job = fake::job(task, *rule, 4, 80);
  const History expected = fake::run(job, {.clock = {.variation = 0}, .pool_threads = 2});
  for (const int shards : {1, 3}) {
    const History history = fake::run_on_threads(job, {.shards = shards});
    for (const UpdateRecord& update : history.updates) {
      BOOST_TEST(update.lag == 0);
      BOOST_TEST(update.batch / 4 == update.update / 4);
    }
    // Sums of floats in double hardly depend on their order.
    for (size_t i = 0; i < expected.theta.size(); ++i)
      BOOST_TEST(std::abs(history.theta[i] - expected.theta[i]) < 1e-6f);
  }
}

BOOST_AUTO_TEST_CASE(nobody_runs_ahead_of_the_bound) {
  const FourTensors task;
  const auto rule = fake::rule("asgd");
  for (const int64_t bound : {0, 1, 4}) {
    Job job = fake::job(task, *rule, 4, 2000);
    job.gate = fake::gate(fmt::format("ssp:bound={}", bound));
    const History history = fake::run_on_threads(job);
    std::vector<int64_t> done(4);
    for (const UpdateRecord& update : history.updates) {
      ++done[static_cast<size_t>(update.worker)];
      // Its work began when it was no more than `bound` ahead, and that was one message ago.
      const int64_t ahead = done[static_cast<size_t>(update.worker)] - *std::min_element(done.begin(), done.end());
      BOOST_REQUIRE(ahead <= bound + 1);
    }
  }
}

// Each shard counts for itself; the rate is the first shard's.
BOOST_AUTO_TEST_CASE(step_info_is_as_the_contract_says) {
  const FourTensors task;
  PlainRule rule;
  rule.sent = true;
  std::mutex mutex;
  struct Seen {
    std::vector<StepInfo> told = std::vector<StepInfo>(4), applied;
    std::vector<std::vector<float>> sent = std::vector<std::vector<float>>(4);
    int wrong = 0;
  };
  std::map<int64_t, Seen> of_shard;  // by the size of its vectors
  rule.on_reply = [&](WorkerId id, View reply, const StepInfo& info) {
    const std::lock_guard lock(mutex);
    Seen& seen = of_shard[reply.size];
    seen.told[static_cast<size_t>(id)] = info;
    seen.sent[static_cast<size_t>(id)].assign(reply.begin(), reply.end());
  };
  rule.on_apply = [&](WorkerId id, View, const StepInfo& info) {
    const std::lock_guard lock(mutex);
    Seen& seen = of_shard[info.sent.size];
    const StepInfo& told = seen.told[static_cast<size_t>(id)];
    const std::vector<float>& sent = seen.sent[static_cast<size_t>(id)];
    seen.wrong += info.learning_rate != told.learning_rate || info.accepted != std::ssize(seen.applied) ||
                  info.workers != 4 || info.peak_learning_rate != 0.5f || info.lag != info.accepted - told.accepted ||
                  !std::equal(sent.begin(), sent.end(), info.sent.begin());
    seen.applied.push_back(info);
  };
  Job job = fake::job(task, rule, 4, 400);
  job.schedule = Schedule({.peak = 0.5, .warmup = 200});
  const History history = fake::run_on_threads(job, {.shards = 3});
  BOOST_TEST(of_shard.size() == 3u);
  for (const auto& [size, seen] : of_shard) {
    BOOST_TEST(seen.wrong == 0);
    BOOST_TEST(seen.applied.size() == 400u);
  }
  for (const UpdateRecord& update : history.updates)
    BOOST_REQUIRE(update.learning_rate == job.schedule.rate(update.update - update.lag));
}

BOOST_AUTO_TEST_CASE(workers_and_evaluations_have_the_jobs_omp_threads_and_their_cores) {
  const std::vector<int> usable = usable_cores();
  for (const int threads_per_worker : {1, 2}) {
    FourTensors task;
    const PlainRule rule;
    std::mutex mutex;
    std::set<int> threads;
    std::set<std::vector<int>> cores, of_evaluations;
    task.on_gradient = [&](int64_t) {
      const std::lock_guard lock(mutex);
      threads.insert(omp_get_max_threads());
      cores.insert(usable_cores());
    };
    task.on_evaluate = [&] {
      const std::lock_guard lock(mutex);
      threads.insert(omp_get_max_threads());
      of_evaluations.insert(usable_cores());
    };
    Job job = fake::job(task, rule, 3, 300);
    job.threads_per_worker = threads_per_worker;
    job.evaluate_every = 50;
    job.gate = fake::gate("ssp:bound=0");  // so that each worker has its turn
    const int before = omp_get_max_threads();
    fake::run_on_threads(job, {.cores = usable});
    BOOST_TEST(omp_get_max_threads() == before);
    BOOST_TEST(usable_cores() == usable, boost::test_tools::per_element());
    BOOST_TEST(threads == std::set<int>{threads_per_worker}, boost::test_tools::per_element());
    BOOST_TEST((of_evaluations == std::set<std::vector<int>>{usable}));
    std::set<std::vector<int>> expected;
    for (size_t worker = 0; worker < 3; ++worker) {
      std::set<int> own;
      for (size_t i = 0; i < std::min(static_cast<size_t>(threads_per_worker), usable.size()); ++i)
        own.insert(usable[(worker * static_cast<size_t>(threads_per_worker) + i) % usable.size()]);
      expected.emplace(own.begin(), own.end());
    }
    BOOST_TEST((cores == expected));

    cores.clear();
    fake::run_on_threads(job);
    BOOST_TEST((cores == std::set<std::vector<int>>{usable}));
  }
}

// What grows with a run's length (its history) does so by doubling; a gap, where it is measured, takes a vector of sums
// for each shard.
BOOST_AUTO_TEST_CASE(no_allocation_per_update) {
  const fake::Ones task;
  const auto rule = fake::rule("dana-zero");
  const auto allocations_of = [&](int64_t gradients, int shards) {
    const Job job = fake::job(task, *rule, 2, gradients);
    fake::Recorder heard;
    const int64_t before = allocations();
    fake::run_on_threads(job, {.shards = shards});
    return allocations() - before;
  };
  for (const int shards : {1, 3}) {
    allocations_of(1000, shards);
    const int64_t some = allocations_of(2000, shards), many = allocations_of(22'000, shards);
    const int64_t gaps = shards * (20'000 / kGapShare);
    BOOST_TEST(many - some < gaps + 500, many - some << " allocations in 20,000 updates");
  }
}

BOOST_AUTO_TEST_SUITE_END()
