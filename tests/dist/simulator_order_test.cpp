// When things happen in a simulated run, and who is told what.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "dist/history/measure.h"
#include "optim/asgd.h"
#include "optim/gates.h"
#include "tests/dist/fake.h"

using namespace tg;
using fake::PlainRule;
using fake::QuadraticTask;
using Kind = Event::Kind;

namespace {

// Of ConstantTask's three parameters and what follows them to the next boundary.
uint64_t hash_of_all(float value) {
  std::vector<float> theta(16);
  std::fill_n(theta.begin(), 3, value);
  return hash_of({theta.data(), 16});
}

constexpr ClockOptions kEven = {.mean = 10, .variation = 0};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulator_order)

BOOST_AUTO_TEST_CASE(a_small_run_makes_exactly_these_events) {
  const fake::ConstantTask task;
  const PlainRule rule;
  Job job = fake::job(task, rule, 2, 3);
  job.schedule = Schedule({.peak = 0.5, .warmup = 2, .warmup_start = 0.25});
  job.evaluate_every = 2;
  fake::Recorder heard;
  simulate(job, {.clock = kEven, .pool_threads = 1}, heard);

  const std::vector<Event> expected = {
      {.kind = Kind::join, .worker = 0, .batch = -1},
      {.kind = Kind::join, .worker = 1, .batch = -1},
      {.kind = Kind::assign, .worker = 0, .batch = 0, .learning_rate = 0.25f},
      {.kind = Kind::assign, .worker = 1, .batch = 1, .learning_rate = 0.25f},
      {.kind = Kind::arrive, .worker = 0, .batch = 0, .version = 1, .learning_rate = 0.25f, .time = 10, .loss = 1},
      {.kind = Kind::assign, .worker = 0, .batch = 2, .version = 1, .learning_rate = 0.375f, .time = 10},
      {.kind = Kind::arrive, .worker = 1, .batch = 1, .version = 2, .learning_rate = 0.25f, .time = 10, .loss = 1},
      {.kind = Kind::assign, .worker = 1, .batch = 3, .version = 2, .learning_rate = 0.5f, .time = 10},
      {.kind = Kind::evaluate, .worker = -1, .batch = 0, .version = 2, .time = 10, .theta_hash = hash_of_all(-0.5f)},
      {.kind = Kind::arrive, .worker = 0, .batch = 2, .version = 3, .learning_rate = 0.375f, .time = 20, .loss = 1},
      {.kind = Kind::release, .worker = 0, .batch = -1, .version = 3, .learning_rate = 0.5f, .time = 20},
      {.kind = Kind::evaluate, .worker = -1, .batch = 1, .version = 3, .time = 20, .theta_hash = hash_of_all(-0.875f)},
      {.kind = Kind::finish, .worker = -1, .batch = -1, .version = 3, .time = 20, .theta_hash = hash_of_all(-0.875f)},
  };
  BOOST_REQUIRE(heard.events.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) BOOST_TEST((heard.events[i] == expected[i]), "event " << i);

  // theta is 0, then minus the sum of the rates told; the task's test loss is theta.
  BOOST_REQUIRE(heard.evaluations.size() == 2u);
  BOOST_TEST(heard.evaluations[0].test_loss == -0.5);
  BOOST_TEST(heard.evaluations[1].test_loss == -0.875);
  BOOST_TEST(heard.evaluations[1].epoch == 0.3);
  BOOST_TEST(heard.evaluations[1].train_loss == 1);
}

BOOST_AUTO_TEST_CASE(workers_that_finish_together_arrive_in_the_order_they_were_sent_off) {
  const QuadraticTask task;
  const PlainRule rule;
  const History history = fake::run(fake::job(task, rule, 5, 50), {.clock = kEven, .pool_threads = 2});
  for (const UpdateRecord& update : history.updates) BOOST_TEST(update.worker == update.update % 5);
}

// One worker: down, compute, up, and again. 50 parameters are 200 bytes.
BOOST_AUTO_TEST_CASE(links_take_their_time_in_both_directions) {
  const QuadraticTask task(50);
  const PlainRule rule;
  const Job job = fake::job(task, rule, 1, 4);
  const History free = fake::run(job, {.clock = kEven, .pool_threads = 1});
  const History slow =
      fake::run(job, {.clock = kEven, .link = {.latency = 1, .time_per_byte = 0.5}, .pool_threads = 1});
  for (size_t i = 0; i < 4; ++i) {
    const double tasks = static_cast<double>(i + 1);
    BOOST_TEST(free.updates[i].time == tasks * 10);
    BOOST_TEST(slow.updates[i].time == tasks * (1 + 100 + 10 + 1 + 100));
  }
  BOOST_TEST(slow.virtual_time == 4 * 212.0);
  BOOST_TEST(slow.theta == free.theta, boost::test_tools::per_element());
}

// Two bytes for each of the layout's elements, gaps too, from the codec; two workers do not wait for each other.
BOOST_AUTO_TEST_CASE(links_take_time_for_the_bytes_that_a_codec_makes) {
  const QuadraticTask task(50);
  const PlainRule rule;
  Job job = fake::job(task, rule, 2, 4);
  job.codec_up = fake::rounding(0.01f);
  const History history =
      fake::run(job, {.clock = kEven, .link = {.latency = 0, .time_per_byte = 1}, .pool_threads = 1});
  const double round_trip = 200 + 10 + 2 * static_cast<double>(task.layout().size());
  const double expected[] = {1, 1, 2, 2};
  for (size_t i = 0; i < 4; ++i) BOOST_TEST(history.updates[i].time == expected[i] * round_trip);
}

// A slow message up must not hold up the one that was computed later but is at the server first.
BOOST_AUTO_TEST_CASE(arrivals_are_ordered_by_arrival_not_by_computation) {
  class FirstIsLongCodec : public Codec {
   public:
    int64_t max_encoded_bytes(int64_t, int64_t) const override { return 1000; }
    int64_t encode(View, int64_t, const Stream&, std::span<std::byte>) override { return step_++ == 0 ? 1000 : 1; }
    void decode(std::span<const std::byte>, int64_t, Span) const override {}

   private:
    int step_ = 0;
  };
  const fake::ConstantTask task(1);
  const PlainRule rule;
  Job job = fake::job(task, rule, 2, 6);
  int made = 0;
  job.codec_up = [&](const Layout& layout) -> std::unique_ptr<Codec> {
    if (made++ == 0) return std::make_unique<FirstIsLongCodec>();  // worker 0
    return make_none_codec(layout);
  };
  const History history =
      fake::run(job, {.clock = kEven, .link = {.latency = 0, .time_per_byte = 0.035}, .pool_threads = 2});
  // Worker 0's first message arrives at 0.14 + 10 + 35, worker 1's come every 10.28.
  const WorkerId expected[] = {1, 1, 1, 1, 0, 1};
  for (size_t i = 0; i < 6; ++i) BOOST_TEST(history.updates[i].worker == expected[i]);
  BOOST_TEST(history.updates[4].lag == 4);
}

BOOST_AUTO_TEST_CASE(step_info_is_as_the_contract_says) {
  const QuadraticTask task;
  PlainRule rule;
  std::vector<StepInfo> replied(4), applied;
  rule.on_reply = [&](WorkerId id, View, const StepInfo& info) { replied[static_cast<size_t>(id)] = info; };
  int wrong = 0;
  rule.on_apply = [&](WorkerId id, View, const StepInfo& info) {
    const StepInfo& told = replied[static_cast<size_t>(id)];
    wrong += info.learning_rate != told.learning_rate || info.accepted != static_cast<int64_t>(applied.size()) ||
             info.workers != 4 || info.peak_learning_rate != 0.5f;
    applied.push_back(info);
  };
  Job job = fake::job(task, rule, 4, 40);
  job.schedule = Schedule({.peak = 0.5, .warmup = 20});
  const History history = fake::run(job);
  BOOST_TEST(wrong == 0);
  for (size_t i = 0; i < 40; ++i) {
    BOOST_TEST(history.updates[i].learning_rate == applied[i].learning_rate);
    // Told when the parameters were sent, which was one of this worker's messages ago: all of them count for theta
    // here.
    BOOST_TEST(applied[i].learning_rate == job.schedule.rate(static_cast<int64_t>(i) - applied[i].lag));
  }
}

BOOST_AUTO_TEST_CASE(batches_are_handed_out_in_order_and_used_once) {
  const QuadraticTask task;
  const PlainRule rule;
  fake::Recorder heard;
  simulate(fake::job(task, rule, 6, 60), {.clock = {.heterogeneous = true}, .pool_threads = 2}, heard);
  int64_t next = 0;
  for (const Event& event : heard.events)
    if (event.kind == Kind::assign) BOOST_TEST(event.batch == next++);
  std::set<int64_t> used;
  for (const UpdateRecord& update : heard.updates) used.insert(update.batch);
  BOOST_TEST(used.size() == 60u);
}

// A backup worker's message comes too late: refused, its batch lost, worker and codec told, and the run goes on.
BOOST_AUTO_TEST_CASE(refused_messages_are_lost_and_their_worker_is_told) {
  const QuadraticTask task;
  PlainRule rule;
  rule.make_gate = [] { return std::make_unique<Bsp>(1); };
  int workers_told = 0, codecs_told = 0, applied = 0;
  rule.on_not_taken = [&](WorkerId) { ++workers_told; };
  rule.on_apply = [&](WorkerId, View, const StepInfo&) { ++applied; };
  Job job = fake::job(task, rule, 3, 40);
  job.codec_up = fake::rounding(0.001f, [&] { ++codecs_told; });
  fake::Recorder heard;
  const History history = simulate(job, {.pool_threads = 2}, heard);

  int refused = 0;
  for (const Event& event : heard.events) refused += event.kind == Kind::arrive && !event.taken;
  BOOST_TEST(refused > 5);
  BOOST_TEST(workers_told == refused);
  BOOST_TEST(codecs_told == refused);
  BOOST_TEST(applied == 40);
  BOOST_TEST(history.updates.size() == 40u);
  BOOST_TEST(history.updates.back().batch >= 40);  // some numbers before it are missing
}

BOOST_AUTO_TEST_SUITE_END()
