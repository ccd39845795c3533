// Snapshots of simulated runs: what goes on from one is, bit for bit, what had gone on without it.

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "dist/snapshot/fields.h"
#include "tests/dist/snapshot_fake.h"

using namespace tg;
using fake::FourTensors;
using fake::Keeper;

namespace {

constexpr int64_t kGradients = 120;

// Everything that makes a run, made anew for each part of it: nothing is left in memory.
struct Made {
  std::string rule;
  std::string gate{};
  int workers = 4;
  bool heterogeneous = false;
  bool with_state = false;  // in workers and codecs

  History run(Keeper& heard, int64_t snapshot_every, SnapshotFile* resume = nullptr, int pool_threads = 2) const {
    const FourTensors task;
    std::unique_ptr<Rule> made = fake::rule(rule);
    if (with_state) made = std::make_unique<fake::RememberingRule>(std::move(made));
    Job job = fake::job(task, *made, made->sequential() ? 1 : workers, kGradients);
    job.schedule = Schedule({.peak = 0.02, .warmup = 30, .drops = {70}});
    if (!gate.empty()) job.gate = fake::gate(gate);
    if (with_state) job.codec_up = job.codec_down = fake::make_feedback_codec;
    job.evaluate_every = 25;
    job.seed = 3;
    job.snapshot_every = snapshot_every;
    job.resume = resume;
    return simulate(
        job, {.clock = {.heterogeneous = heterogeneous}, .link = {.latency = 3}, .pool_threads = pool_threads}, heard);
  }
};

template <class Record, class... T>
bool same(const std::vector<Record>& a, const std::vector<Record>& b, const std::tuple<Field<Record, T>...>& fields) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!std::apply([&](const auto&... field) { return ((a[i].*field.member == b[i].*field.member) && ...); }, fields))
      return false;
  return true;
}

void check_same(const History& a, const Keeper& heard_a, const History& b, const Keeper& heard_b) {
  BOOST_TEST((a.status == b.status));
  BOOST_TEST(a.theta == b.theta, boost::test_tools::per_element());
  BOOST_TEST(same(a.updates, b.updates, kUpdateFields));
  BOOST_TEST(same(a.evaluations, b.evaluations, kEvaluationFields));
  BOOST_TEST(a.virtual_time == b.virtual_time);
  BOOST_TEST((heard_a.events == heard_b.events));
  BOOST_TEST(same(heard_a.updates, heard_b.updates, kUpdateFields));
  BOOST_TEST(same(heard_a.evaluations, heard_b.evaluations, kEvaluationFields));
}

// Stopped after the message that makes it `first` gradients and gone on with, against the whole run.
void check_resumes(const Made& made, int64_t first) {
  const TemporaryFolder folder;
  Keeper whole(folder / "none"), parts(folder / "snapshot");
  const History all = made.run(whole, 0);
  const int64_t batches = fake::rule(made.rule)->batches(), messages = (first + batches - 1) / batches;
  parts.stop_after = messages;
  const History begun = made.run(parts, 1'000'000);
  BOOST_TEST((begun.status == History::Status::stopped));
  BOOST_TEST(std::ssize(begun.updates) == messages);
  BOOST_REQUIRE(parts.at == std::vector<int64_t>{messages * batches});
  parts.cut();
  SnapshotFile file(folder / "snapshot");
  const History ended = made.run(parts, 0, &file);
  check_same(all, whole, ended, parts);
  BOOST_TEST(ended.gradient_seconds >= begun.gradient_seconds);
  BOOST_TEST(ended.update_seconds > begun.update_seconds);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(snapshots)

BOOST_AUTO_TEST_CASE(every_rule_with_both_clocks) {
  for (const SpecInfo& info : rule_infos())
    for (const bool heterogeneous : {false, true}) {
      BOOST_TEST_CONTEXT(info.name << (heterogeneous ? ", heterogeneous" : "")) {
        check_resumes({.rule = info.name, .heterogeneous = heterogeneous}, 60);
      }
    }
}

BOOST_AUTO_TEST_CASE(options_gates_and_anything_that_keeps_state) {
  for (const char* spec :
       {"sgd:momentum=0.9,nesterov=true", "ssgd:momentum=0.9,backup=2", "dc-asgd-a:mean-square=worker", "dana-zero",
        "dc-ssgd:adaptive=true", "lwp:momentum=0.5,lag=measured", "dana-dc:adaptive=true,mean-square=worker",
        "dc-asgd-c:momentum=0.9,velocity=worker"})
    for (const char* gate : {"", "bsp:backup=1", "ssp:bound=1"})
      for (const bool with_state : {false, true})
        for (const int64_t first : {1, 53}) {
          if (std::string(gate) == "ssp:bound=1" && fake::rule(spec)->needs_rounds()) continue;
          BOOST_TEST_CONTEXT(spec << " under " << gate << (with_state ? ", with state" : "") << ", from " << first) {
            check_resumes({.rule = spec, .gate = gate, .workers = 6, .heterogeneous = true, .with_state = with_state},
                          first);
          }
        }
}

// Also before the first gradient and just before the last.
BOOST_AUTO_TEST_CASE(any_moment_will_do) {
  for (const int64_t first : {0, 2, 24, 25, 26, 50, 118, 119})
    BOOST_TEST_CONTEXT(first) check_resumes({.rule = "dana-zero", .workers = 5}, first);
}

BOOST_AUTO_TEST_CASE(taking_snapshots_changes_nothing) {
  const TemporaryFolder folder;
  const Made made{.rule = "dc-asgd-a", .gate = "bsp:backup=1", .with_state = true};
  Keeper without(folder / "none"), with(folder / "snapshot");
  const History all = made.run(without, 0);
  check_same(all, without, made.run(with, 7, nullptr, 1), with);
  BOOST_TEST(without.at.empty());
  std::vector<int64_t> expected;
  for (int64_t n = 7; n < kGradients; n += 7) expected.push_back(n);
  BOOST_TEST(with.at == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_run_may_be_stopped_again_and_again) {
  const TemporaryFolder folder;
  const Made made{.rule = "multi-asgd", .with_state = true};
  Keeper whole(folder / "none"), parts(folder / "snapshot");
  const History all = made.run(whole, 0);
  std::optional<SnapshotFile> file;
  for (const int64_t stop : {3, 4, 40, 77}) {
    parts.stop_after = stop;
    made.run(parts, 1000, file ? &*file : nullptr);
    parts.cut();
    file.emplace(folder / "snapshot");
  }
  check_same(all, whole, made.run(parts, 0, &*file), parts);
}

BOOST_AUTO_TEST_CASE(time_goes_on) {
  const TemporaryFolder folder;
  FourTensors task;
  task.on_gradient = [](int64_t batch) {
    if (batch < 5) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  const fake::PlainRule rule;
  Job job = fake::job(task, rule, 1, 20);
  job.snapshot_every = 10;
  Keeper heard(folder / "snapshot");
  simulate(job, {.pool_threads = 1}, heard);
  SnapshotFile file(folder / "snapshot");
  job.resume = &file;
  BOOST_TEST(fake::run(job).seconds >= 0.05);
}

BOOST_AUTO_TEST_CASE(one_that_does_not_belong_to_the_job_is_refused) {
  const TemporaryFolder folder;
  Keeper heard(folder / "snapshot");
  heard.stop_after = 20;
  Made{.rule = "asgd"}.run(heard, 50);
  SnapshotFile file(folder / "snapshot");
  const auto error_with = [&](const Made& made) { return error_of([&] { made.run(heard, 0, &file); }); };
  BOOST_TEST(contains(error_with({.rule = "asgd", .workers = 5}), "its workers is 4, that of this run is 5"));
  BOOST_TEST(contains(error_with({.rule = "dana-zero"}), "it has no tensor \"shard0/velocity/count\""));
  BOOST_TEST(contains(error_with({.rule = "asgd", .gate = "bsp"}), "it has no tensor \"gate/round\""));
}

BOOST_AUTO_TEST_SUITE_END()
