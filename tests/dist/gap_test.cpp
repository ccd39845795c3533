// The gap: raw, converted where the server keeps a look-ahead, and on some of many coordinates.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "dist/gap_meter.h"
#include "dist/replay/replay.h"
#include "optim/asgd.h"
#include "tests/dist/snapshot_fake.h"

using namespace tg;
using fake::Keeper;

namespace {

constexpr float kRate = 0.1f, kMomentum = 0.9f;

// As DANA-Slim: the velocity is the worker's, who sends a step along it and the look-ahead's change.
class SlimWorker : public Worker {
 public:
  SlimWorker(int64_t size, bool tells, std::function<void(View)> on_gradient)
      : tells_(tells),
        on_gradient_(std::move(on_gradient)),
        velocity_(static_cast<size_t>(size)),
        ahead_(velocity_.size()) {}
  void work(View reply, const StepInfo& info, Oracle& oracle, Span message) override {
    oracle.gradient(reply, message);
    if (on_gradient_) on_gradient_(message);
    for (int64_t i = 0; i < message.size; ++i) {
      float& v = velocity_[static_cast<size_t>(i)];
      v = kMomentum * v + message[i];
      message[i] += kMomentum * v;
      ahead_[static_cast<size_t>(i)] = info.learning_rate * kMomentum * v;
    }
  }
  View ahead() const override { return tells_ ? View(ahead_.data(), std::ssize(ahead_)) : View(); }
  void save(StateWriter& state) const override {
    fake::save(state, velocity_);
    state.write("ahead", View(ahead_.data(), std::ssize(ahead_)));
  }
  void load(const StateReader& state) override {
    fake::load(state, velocity_);
    state.read("ahead", Span(ahead_.data(), std::ssize(ahead_)));
  }

 private:
  bool tells_;
  std::function<void(View)> on_gradient_;
  std::vector<float> velocity_, ahead_;
};

class SlimRule : public Rule {
 public:
  std::unique_ptr<Update> update(const Layout& layout, View initial) const override {
    return asgd_->update(layout, initial);
  }
  std::unique_ptr<Worker> worker(WorkerId id, const Layout& layout) const override {
    std::function<void(View)> hook;
    if (on_gradient) hook = [this, id](View gradient) { on_gradient(id, gradient); };
    return std::make_unique<SlimWorker>(layout.size(), tells, hook);
  }
  bool tells = true;                                // what its look-ahead is
  std::function<void(WorkerId, View)> on_gradient;  // on the pool's threads

 private:
  std::unique_ptr<Rule> asgd_ = fake::rule("asgd");
};

// Workers take turns.
History in_turns(const Job& job) { return fake::run(job, {.clock = {.variation = 0}, .pool_threads = 2}); }

Job job_of(const Task& task, const Rule& rule, int64_t gradients, bool exact = false) {
  Job job = fake::job(task, rule, 8, gradients);
  job.exact_gap = exact;
  return job;
}

std::vector<double> gaps_of(const History& history) {
  std::vector<double> gaps;
  for (const UpdateRecord& update : history.updates) gaps.push_back(update.gap);
  return gaps;
}

// Tensors of three, each followed by a gap that is longer than it.
class ManyGaps : public fake::ConstantTask {
 public:
  ManyGaps() {
    for (int i = 0; i < 2000; ++i) layout_.add(fmt::format("t{}", i), {3});
  }
  const Layout& layout() const override { return layout_; }
  double gradient(View, uint64_t, int64_t, const Stream&, Span out) const override {
    for (const int64_t i : fake::parameters(layout_)) out[i] = 1;
    return 1;
  }

 private:
  Layout layout_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gap)

// The fixed points that docs/rules.md derives: eight workers in turns, every gradient 1, in units of the rate.
BOOST_AUTO_TEST_CASE(constant_gradients_in_turns) {
  const fake::ConstantTask task;
  const auto steps = [&](const Rule& rule) {
    const History history = in_turns(job_of(task, rule, 3000));
    BOOST_TEST(history.updates.back().lag == 7);
    return history.updates.back().gap / static_cast<double>(kRate);
  };
  const auto is = [](double steps, double expected) { return std::abs(steps - expected) < 0.005; };
  BOOST_TEST(is(steps(*fake::rule("asgd")), 7.0));
  BOOST_TEST(is(steps(*fake::rule("dana-zero:momentum=0.9")), 2.0));
  BOOST_TEST(is(steps(*fake::rule("multi-asgd:momentum=0.9")), 70.0));
  SlimRule slim, raw;
  raw.tells = false;
  BOOST_TEST(is(steps(*fake::rule("dana-slim:momentum=0.9")), 7.0));
  BOOST_TEST(is(steps(slim), 7.0));  // of theta - eta gamma v[i], as for dana-zero
  BOOST_TEST(is(steps(raw), 70.0));
}

// The look-ahead identity: in turns, what is left is the others' gradients alone, whatever they are. A part of the
// look-ahead that belongs to a message still under way would be seen.
BOOST_AUTO_TEST_CASE(a_look_ahead_is_that_of_messages_taken_in) {
  const fake::QuadraticTask task(5000);
  for (const bool exact : {false, true}) {
    SlimRule rule;
    std::vector<std::vector<std::vector<float>>> gradients(8);  // by worker and message
    rule.on_gradient = [&](WorkerId id, View g) {
      gradients[static_cast<size_t>(id)].emplace_back(g.begin(), g.end());
    };
    const History history = in_turns(job_of(task, rule, 160, exact));
    for (size_t u = 8; u < 160; ++u) {
      double squares = 0;
      for (const int64_t i : fake::parameters(task.layout())) {
        double sum = 0;
        for (size_t of = u - 7; of < u; ++of)
          sum += static_cast<double>(gradients[of % 8][of / 8][static_cast<size_t>(i)]);
        squares += sum * sum;
      }
      const double expected = static_cast<double>(kRate) * std::sqrt(squares / 5000);
      BOOST_TEST(history.updates[u].gap == expected, boost::test_tools::tolerance(exact ? 1e-4 : 0.05));
    }
  }
}

BOOST_AUTO_TEST_CASE(few_parameters_are_all_measured) {
  const Asgd rule{AsgdOptions{}};
  for (const int64_t parameters : {50, 4096}) {
    const fake::QuadraticTask task(parameters);
    BOOST_TEST(gap_coordinates(job_of(task, rule, 1)) == parameters);
    BOOST_TEST(gaps_of(in_turns(job_of(task, rule, 40))) == gaps_of(in_turns(job_of(task, rule, 40, true))),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(of_many_parameters_some_are_measured) {
  const Asgd rule{AsgdOptions{}};
  const fake::QuadraticTask task(50'000);
  Job job = job_of(task, rule, 40);
  BOOST_TEST(gap_coordinates(job) == kGapCoordinates);
  BOOST_TEST(gap_coordinates(job_of(task, rule, 40, true)) == 50'000);
  const std::vector<double> some = gaps_of(in_turns(job)), all = gaps_of(in_turns(job_of(task, rule, 40, true)));
  for (size_t i = 1; i < all.size(); ++i) {
    BOOST_TEST(some[i] != all[i]);
    BOOST_TEST(some[i] == all[i], boost::test_tools::tolerance(0.05));
  }
}

BOOST_AUTO_TEST_CASE(only_parameters_are_measured) {
  const ManyGaps task;
  const Asgd rule{AsgdOptions{}};
  for (const bool exact : {false, true})
    BOOST_TEST(in_turns(job_of(task, rule, 40, exact)).updates.back().gap == 7 * 0.1,
               boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(runs_on_threads_and_their_replays) {
  const ManyGaps task;
  const SlimRule rule;
  for (const int shards : {1, 3}) {
    Job job = fake::job(task, rule, 4, 200);
    job.schedule = Schedule({.peak = 0.01});
    fake::Recorder heard;
    const History history = run_threads(job, {.shards = shards}, heard);
    std::vector<EventLog> logs;
    for (const auto& events : heard.shards) logs.push_back({.header = {}, .events = events});
    Observer nobody;
    const Replayed replayed = replay(job, logs, {.pool_threads = 2}, nobody);
    BOOST_TEST(replayed.whole);
    int measured = 0;
    for (size_t i = 0; i < history.updates.size(); ++i) {
      if (std::isnan(history.updates[i].gap)) continue;
      ++measured;
      BOOST_TEST(replayed.history.updates[i].gap == history.updates[i].gap);
    }
    BOOST_TEST(measured >= 8);
  }
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_from_a_snapshot_with_the_same_gaps) {
  const fake::QuadraticTask task(5000);
  const SlimRule rule;
  for (const bool exact : {false, true}) {
    const TemporaryFolder folder;
    Job job = job_of(task, rule, 60, exact);
    job.snapshot_every = 25;
    Keeper heard(folder / "snapshot");
    const History whole = simulate(job, {.pool_threads = 2}, heard);
    BOOST_REQUIRE(heard.at == (std::vector<int64_t>{25, 50}));
    SnapshotFile file(folder / "snapshot");
    job.resume = &file;
    BOOST_TEST(gaps_of(fake::run(job)) == gaps_of(whole), boost::test_tools::per_element());
  }
}

// Its look-ahead stays in theta, and is nobody's.
BOOST_AUTO_TEST_CASE(who_leaves_is_ahead_no_more) {
  const fake::ConstantTask task(16);
  const SlimRule rule;
  const Job job = job_of(task, rule, 10);
  GapMeter meter(job, {.first = 0, .layout = task.layout()});
  const std::vector<float> zero(16), one(16, 1.0f), two(16, 2.0f);
  const auto view = [](const std::vector<float>& v) { return View(v.data(), std::ssize(v)); };
  const auto gap = [&](WorkerId id) { return std::sqrt(meter.squares(id, view(zero), view(zero)) / 16); };
  BOOST_TEST(gap(0) == 0);
  meter.take(1, view(one));
  meter.take(2, view(two));
  BOOST_TEST(gap(0) == 3);
  BOOST_TEST(gap(1) == 2);
  meter.take(1, view(two));
  BOOST_TEST(gap(2) == 2);
  meter.leave(2);
  BOOST_TEST(gap(0) == 2);
  BOOST_TEST(gap(1) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
