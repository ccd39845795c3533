// Gradients that are clipped by their norm, at the worker.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/dist/replay_fake.h"

using namespace tg;

namespace {

double norm_of(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(squares);
}

Job clipped(const Task& task, const Rule& rule, double norm, int64_t gradients = 60) {
  Job job = fake::job(task, rule, 1, gradients);
  job.clip_norm = norm;
  return job;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(clipping)

// A transcription of g <- g min(1, c / |g|), then theta <- theta - eta g; the path starts with long gradients and ends
// with short ones.
BOOST_AUTO_TEST_CASE(one_worker_against_a_transcription) {
  const fake::QuadraticTask task;
  const auto rule = fake::rule("asgd");
  const double longest = 2;
  const History history = fake::run(clipped(task, *rule, longest));

  const int64_t size = task.layout().size();
  std::vector<float> theta(static_cast<size_t>(size)), gradient(theta);
  task.initial(1, {theta.data(), size});
  int64_t shortened = 0;
  for (int64_t t = 0; t < 60; ++t) {
    const Stream stream = Stream(1).split("worker", 0).split("step", static_cast<uint64_t>(t));
    const double loss = task.gradient({theta.data(), size}, 1, t, stream, {gradient.data(), size});
    const double norm = norm_of(gradient);
    if (norm > longest) ++shortened;
    for (size_t i = 0; i < theta.size(); ++i)
      theta[i] -= 0.1f * static_cast<float>(static_cast<double>(gradient[i]) * std::min(1.0, longest / norm));
    BOOST_TEST(history.updates[static_cast<size_t>(t)].loss == loss, boost::test_tools::tolerance(1e-4));
  }
  BOOST_TEST(shortened > 5);
  BOOST_TEST(shortened < 55);
  for (size_t i = 0; i < theta.size(); ++i) BOOST_TEST(std::abs(history.theta[i] - theta[i]) < 1e-5f);
}

// It reaches the rule shortened, in the direction that it had; one that is short enough keeps its bits.
BOOST_AUTO_TEST_CASE(what_the_rule_sees) {
  const fake::QuadraticTask task;
  fake::PlainRule rule;
  std::vector<float> seen;
  rule.on_apply = [&](WorkerId, View message, const StepInfo&) { seen.assign(message.begin(), message.end()); };
  const auto first_with = [&](double norm) {
    fake::run(clipped(task, rule, norm, 1));
    return seen;
  };
  const std::vector<float> whole = first_with(0);
  const double norm = norm_of(whole);
  BOOST_TEST(first_with(1.001 * norm) == whole, boost::test_tools::per_element());
  for (const double longest : {0.999 * norm, 0.5, 1e-3}) {
    const std::vector<float> cut = first_with(longest);
    BOOST_TEST(norm_of(cut) == longest, boost::test_tools::tolerance(1e-6));
    for (size_t i = 0; i < cut.size(); ++i)
      BOOST_TEST(std::abs(cut[i] - whole[i] * static_cast<float>(longest / norm)) <= 1e-6f * std::abs(whole[i]));
  }
}

BOOST_AUTO_TEST_CASE(runs_on_threads_are_replayed) {
  const fake::FourTensors task;
  const auto rule = fake::rule("dana-zero");
  Job job = fake::make_job(task, *rule, 4, 250);
  job.clip_norm = 1;
  const fake::Recorded recorded = fake::record(job, {.shards = 3});
  BOOST_TEST(fake::again(job, recorded.logs).whole);
  BOOST_TEST(fake::again(job, recorded.logs).history.theta == recorded.history.theta, boost::test_tools::per_element());
  job.clip_norm = 0;
  BOOST_TEST(!fake::again(job, recorded.logs).whole);
}

BOOST_AUTO_TEST_CASE(a_norm_must_be_a_number) {
  const fake::QuadraticTask task;
  const auto rule = fake::rule("asgd");
  for (const double norm : {-1.0, std::nan(""), HUGE_VAL})
    BOOST_TEST(contains(error_of([&] { fake::run(clipped(task, *rule, norm)); }), "clipped to a norm of"));
}

BOOST_AUTO_TEST_SUITE_END()
