// What a simulated run computes: the same for every pool, in every process, and for one worker plain SGD.

#include <unistd.h>
#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <mutex>
#include <set>

#include "optim/asgd.h"
#include "optim/ssgd.h"
#include "tests/dist/fake.h"

using namespace tg;
using fake::PlainRule;
using fake::QuadraticTask;

namespace {

Asgd make_asgd() { return Asgd({.weight_decay = 0}); }

// Everything that can make a run depend on its threads: machines that differ, a link, lossy codecs, evaluations.
Job intricate_job(const Task& task, const Rule& rule) {
  Job job = fake::job(task, rule, 8, 200);
  job.codec_up = fake::rounding(0.01f);
  job.codec_down = fake::rounding(0.001f);
  job.schedule = Schedule({.peak = 0.05, .warmup = 40, .warmup_start = 0.01, .drops = {150}});
  job.evaluate_every = 7;
  job.seed = 5;
  return job;
}

SimulatorOptions intricate_options(int pool_threads) {
  return {
      .clock = {.heterogeneous = true}, .link = {.latency = 3, .time_per_byte = 0.01}, .pool_threads = pool_threads};
}

uint32_t checksum(const std::vector<float>& values) {
  const auto bytes = reinterpret_cast<const Bytef*>(values.data());
  return static_cast<uint32_t>(crc32_z(0, bytes, values.size() * sizeof(float)));
}

uint32_t checksum_of_a_fixed_run(int pool_threads) {
  const QuadraticTask task;
  const PlainRule rule;
  return checksum(fake::run(intricate_job(task, rule), intricate_options(pool_threads)).theta);
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(simulator)

BOOST_AUTO_TEST_CASE(one_worker_is_sequential_sgd_bit_for_bit) {
  const QuadraticTask task;
  const Asgd rule = make_asgd();
  Job job = fake::job(task, rule, 1, 100);
  job.schedule = Schedule({.peak = 0.1, .warmup = 10, .warmup_start = 0.01, .drops = {50}});
  job.seed = 3;
  const History history = fake::run(job);

  const int64_t size = task.layout().size();
  std::vector<float> theta(static_cast<size_t>(size)), gradient(theta);
  const Span x(theta.data(), size), g(gradient.data(), size);
  task.initial(3, x);
  std::vector<double> losses;
  for (int64_t t = 0; t < 100; ++t) {
    const Stream stream = Stream(3).split("worker", 0).split("step", static_cast<uint64_t>(t));
    losses.push_back(task.gradient(x, 3, t, stream, g));
    for (int64_t i = 0; i < size; ++i) x[i] -= job.schedule.rate(t) * g[i];
  }
  BOOST_TEST(history.theta == theta, boost::test_tools::per_element());
  for (size_t t = 0; t < 100; ++t) BOOST_REQUIRE(same_bits(history.updates[t].loss, losses[t]));
  BOOST_TEST(losses.back() < losses.front());
}

BOOST_AUTO_TEST_CASE(one_worker_is_never_late) {
  const QuadraticTask task;
  const Asgd rule = make_asgd();
  const History history = fake::run(fake::job(task, rule, 1, 50));
  BOOST_TEST(task.gradients == 50);
  BOOST_REQUIRE(history.updates.size() == 50u);
  for (const UpdateRecord& update : history.updates) {
    BOOST_TEST(update.lag == 0);
    BOOST_TEST(update.gap == 0);
    BOOST_TEST(update.batch == update.update);
  }
}

BOOST_AUTO_TEST_CASE(the_pool_changes_no_bit) {
  const QuadraticTask task;
  const PlainRule rule;
  const Job job = intricate_job(task, rule);
  const History one = fake::run(job, intricate_options(1));
  for (const int threads : {2, 8}) {
    fake::Recorder heard;
    const History many = simulate(job, intricate_options(threads), heard);
    BOOST_TEST(many.theta == one.theta, boost::test_tools::per_element());
    BOOST_REQUIRE(many.updates.size() == one.updates.size());
    for (size_t i = 0; i < one.updates.size(); ++i) {
      const UpdateRecord &a = one.updates[i], &b = many.updates[i];
      BOOST_REQUIRE((a.worker == b.worker && a.batch == b.batch && a.lag == b.lag && same_bits(a.gap, b.gap) &&
                     same_bits(a.loss, b.loss) && a.learning_rate == b.learning_rate && same_bits(a.time, b.time) &&
                     a.bytes_up == b.bytes_up && a.bytes_down == b.bytes_down));
    }
    BOOST_REQUIRE(many.evaluations.size() == one.evaluations.size());
    for (size_t i = 0; i < one.evaluations.size(); ++i) {
      const EvaluationRecord &a = one.evaluations[i], &b = many.evaluations[i];
      BOOST_REQUIRE((a.gradients == b.gradients && same_bits(a.train_loss, b.train_loss) &&
                     same_bits(a.test_loss, b.test_loss) && same_bits(a.time, b.time)));
      BOOST_TEST(heard.evaluations[i].gradients == a.gradients);
    }
  }
}

BOOST_AUTO_TEST_CASE(seeds_differ) {
  const QuadraticTask task;
  const PlainRule rule;
  Job job = intricate_job(task, rule);
  const History one = fake::run(job);
  job.seed = 6;
  BOOST_TEST(checksum(fake::run(job).theta) != checksum(one.theta));
}

// The same with every compiler's flags: tests are also built for debugging and with sanitizers.
BOOST_AUTO_TEST_CASE(final_bytes_are_golden) { BOOST_TEST(checksum_of_a_fixed_run(2) == 0xcf7e3708); }

// For the test below, which starts this program again.
BOOST_AUTO_TEST_CASE(print_final_bytes, *boost::unit_test::disabled()) {
  std::cout << fmt::format("final bytes {:08x}\n", checksum_of_a_fixed_run(2)) << std::flush;
}

BOOST_AUTO_TEST_CASE(a_second_process_gives_the_same_bytes) {
  char program[4096] = {};
  BOOST_REQUIRE(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
  const std::string command = fmt::format("'{}' --run_test=simulator/print_final_bytes", program);
  const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
  BOOST_REQUIRE(output);
  std::string text;
  for (int c; (c = std::fgetc(output.get())) != EOF;) text += static_cast<char>(c);
  const std::string expected = fmt::format("final bytes {:08x}", checksum_of_a_fixed_run(1));
  BOOST_TEST(text.find(expected) != std::string::npos, expected << " is not in the output of " << command << ":\n"
                                                                << text);
}

// Every gradient is 1 and workers take turns, so at each arrival theta is N - 1 steps further.
BOOST_AUTO_TEST_CASE(gap_of_asgd_in_turns_is_n_minus_one_steps) {
  const fake::ConstantTask task;
  const Asgd rule = make_asgd();
  const History history = fake::run(fake::job(task, rule, 8, 80), {.clock = {.variation = 0}, .pool_threads = 2});
  for (const UpdateRecord& update : history.updates) {
    const int64_t behind = std::min<int64_t>(update.update, 7);
    BOOST_TEST(update.worker == update.update % 8);
    BOOST_TEST(update.lag == behind);
    BOOST_TEST(std::abs(update.gap - 0.1 * static_cast<double>(behind)) < 1e-6);
  }
  const Summary summary = summarise(history);
  BOOST_TEST(summary.max_lag == 7);
  BOOST_TEST(summary.bytes_up == 80 * 12);
}

BOOST_AUTO_TEST_CASE(synchronous_workers_are_never_late) {
  const QuadraticTask task;
  const Ssgd rule{SsgdOptions{}};
  const History history = fake::run(fake::job(task, rule, 4, 40));
  BOOST_REQUIRE(history.updates.size() == 40u);
  for (const UpdateRecord& update : history.updates) {
    BOOST_TEST(update.lag == 0);
    BOOST_TEST(update.gap == 0);
    BOOST_TEST(update.batch / 4 == update.update / 4);  // batches of one round belong together
  }

  // Forty gradients are ten steps by means of four.
  const int64_t size = task.layout().size();
  std::vector<float> theta(static_cast<size_t>(size)), gradient(theta);
  const Span x(theta.data(), size), g(gradient.data(), size);
  task.initial(1, x);
  for (int64_t round = 0; round < 10; ++round) {
    std::vector<double> sum(theta.size());
    for (int64_t worker = 0; worker < 4; ++worker) {
      const Stream stream = Stream(1).split("worker", static_cast<uint64_t>(worker));
      task.gradient(x, 1, 4 * round + worker, stream.split("step", static_cast<uint64_t>(round)), g);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(gradient[i]);
    }
    for (size_t i = 0; i < sum.size(); ++i) theta[i] -= 0.1f * static_cast<float>(sum[i] / 4);
  }
  for (size_t i = 0; i < theta.size(); ++i) BOOST_TEST(std::abs(history.theta[i] - theta[i]) < 1e-6f);
}

// A worker's first reply is whole; by later ones, what it has changes by multiples of the codec's step.
BOOST_AUTO_TEST_CASE(lossy_codecs_change_what_both_ends_see) {
  const QuadraticTask task;
  PlainRule rule;
  constexpr float up = 0.25f, down = 0.5f;
  const auto is_multiple = [](float value, float step) {
    return std::abs(value / step - std::round(value / step)) < 1e-4f;
  };
  std::map<WorkerId, std::vector<float>> replied, had;
  std::atomic<int> rounded_messages = 0, rounded_steps = 0;
  int far = 0;
  std::mutex mutex;  // of what follows: workers compute ahead
  rule.on_work = [&](WorkerId worker, View reply, const StepInfo&) {
    const std::lock_guard lock(mutex);
    std::vector<float>& before = had[worker];
    if (before.empty())
      BOOST_TEST(std::equal(reply.begin(), reply.end(), replied[worker].begin()));
    else
      for (int64_t i = 0; i < reply.size; ++i)
        rounded_steps += is_multiple(reply[i] - before[static_cast<size_t>(i)], down);
    // The codec's noise is one step at most, and what was lost before is made up for.
    for (int64_t i = 0; i < reply.size; ++i)
      far += std::abs(reply[i] - replied[worker][static_cast<size_t>(i)]) > down * 1.001f;
    before.assign(reply.begin(), reply.end());
  };
  rule.on_apply = [&](WorkerId, View message, const StepInfo&) {
    for (const float value : message) rounded_messages += value == up * std::round(value / up);
  };
  rule.on_reply = [&](WorkerId worker, View reply, const StepInfo&) {
    const std::lock_guard lock(mutex);
    replied[worker].assign(reply.begin(), reply.end());
  };
  Job job = fake::job(task, rule, 3, 30);
  job.codec_up = fake::rounding(up);
  job.codec_down = fake::rounding(down);
  const History history = fake::run(job, {.pool_threads = 1});
  const int size = static_cast<int>(task.layout().size());
  BOOST_TEST(rounded_steps == (task.gradients - 3) * size);
  BOOST_TEST(far == 0);
  BOOST_TEST(rounded_messages == 30 * size);
  std::set<WorkerId> seen;
  for (const UpdateRecord& update : history.updates) {
    const bool first = seen.insert(update.worker).second;
    BOOST_TEST(update.bytes_up == 2 * size);
    BOOST_TEST(update.bytes_down == (first ? 4 * task.layout().count() : 2 * size));
    if (!first) BOOST_TEST(update.gap > 0);  // also without lag: the worker has rounded parameters
  }
}

BOOST_AUTO_TEST_CASE(exact_bytes_are_counted_without_gaps) {
  const QuadraticTask task(50);
  const Asgd rule = make_asgd();
  const History history = fake::run(fake::job(task, rule, 2, 5));
  BOOST_TEST(task.layout().size() > 50);
  for (const UpdateRecord& update : history.updates) {
    BOOST_TEST(update.bytes_up == 200);
    BOOST_TEST(update.bytes_down == 200);
  }
}

// What a rule is told to have been sent is what was decoded there, whatever was sent to others in between.
BOOST_AUTO_TEST_CASE(sent_is_what_this_worker_works_from) {
  const QuadraticTask task;
  for (const bool lossy : {false, true}) {
    PlainRule rule;
    rule.sent = true;
    std::vector<std::vector<float>> worked_from(8);  // written by one task at a time
    std::vector<int64_t> lags;
    std::atomic<int> told_too_early = 0;
    rule.on_work = [&](WorkerId id, View reply, const StepInfo& info) {
      told_too_early += !info.sent.empty();
      worked_from[static_cast<size_t>(id)].assign(reply.begin(), reply.end());
    };
    int differing = 0;
    rule.on_apply = [&](WorkerId id, View, const StepInfo& info) {
      const std::vector<float>& expected = worked_from[static_cast<size_t>(id)];
      differing += !std::equal(expected.begin(), expected.end(), info.sent.begin(), info.sent.end());
      lags.push_back(info.lag);
    };
    Job job = fake::job(task, rule, 8, 100);
    if (lossy) job.codec_down = fake::rounding(0.001f);
    const History history = fake::run(job, {.clock = {.heterogeneous = true}, .pool_threads = 2});
    BOOST_TEST(differing == 0);
    BOOST_TEST(told_too_early == 0);
    for (size_t i = 0; i < 100; ++i) BOOST_TEST(lags[i] == history.updates[i].lag);
    BOOST_TEST(summarise(history).max_lag > 7);
  }
}

BOOST_AUTO_TEST_CASE(sent_is_empty_unless_the_rule_asks) {
  const QuadraticTask task;
  PlainRule rule;
  rule.on_apply = [](WorkerId, View, const StepInfo& info) { BOOST_TEST(info.sent.empty()); };
  fake::run(fake::job(task, rule, 2, 10));
}

BOOST_AUTO_TEST_SUITE_END()
