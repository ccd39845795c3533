// Synchronous workers on a real model: N of them with batches of b make the steps of one with batches of N b.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "datasets/synthetic.h"
#include "dist/launch/classification_task.h"
#include "dist/simulate/simulator.h"
#include "framework/nn/models/models.h"
#include "optim/registry.h"

using namespace tg;

namespace {

constexpr int kWorkers = 4;
constexpr int64_t kBatch = 32, kSteps = 40;  // 40 of the 32 large batches of an epoch: into the second

std::vector<float> trained(const Splits& data, const std::string& spec, int workers, int64_t batch) {
  // No batch normalisation, whose statistics are of a batch.
  const ClassificationTask task(
      data,
      [] {
        return make_mlp({28, 28, 1}, {16}, 10);
      },
      batch);
  const auto rule = make_rule(Spec::parse(spec, rule_infos(), "rule"));
  const auto codec = [](const Layout& layout) { return make_none_codec(layout); };
  Observer nobody;
  const Job job{.task = &task,
                .rule = rule.get(),
                .codec_up = codec,
                .codec_down = codec,
                .schedule = Schedule({.peak = 0.05}),
                .workers = workers,
                .gradients = kSteps * workers,
                .seed = 3};
  return simulate(job, {.pool_threads = 1}, nobody).theta;
}

}  // namespace

// The gradients are the same sums of 128 samples, added up in another order: by four batches of float32 sums of 32,
// instead of one of 128. Each step's last bits differ, some 1e-7 of a gradient, and so do the points from which the
// next ones start; 40 steps of 0.05 stay well below 1e-5.
BOOST_AUTO_TEST_CASE(synchronous_workers_are_one_with_a_larger_batch) {
  const Splits data = synthetic_dataset(0);
  for (const std::string options : {"", ":momentum=0.9,nesterov=true,weight-decay=0.01"}) {
    const std::vector<float> many = trained(data, "ssgd" + options, kWorkers, kBatch);
    const std::vector<float> one = trained(data, "sgd" + options, 1, kWorkers * kBatch);
    const std::vector<float> smaller = trained(data, "sgd" + options, 1, kBatch);
    double difference = 0, to_smaller = 0;
    for (size_t i = 0; i < many.size(); ++i) {
      difference = std::max(difference, std::abs(double{many[i]} - double{one[i]}));
      to_smaller = std::max(to_smaller, std::abs(double{many[i]} - double{smaller[i]}));
    }
    BOOST_TEST_CONTEXT("options '" << options << "'") {
      BOOST_TEST(difference < 1e-5);
      BOOST_TEST(to_smaller > 1e-3);  // another batch is another run
    }
  }
}
