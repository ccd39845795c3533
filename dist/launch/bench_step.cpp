// How long a training step takes, in the terms of tests/bench: clear, forward, cross-entropy, backward, SGD with
// momentum 0.9, on data in memory.

#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "dist/launch/commands.h"
#include "dist/launch/machine.h"
#include "dist/launch/table.h"
#include "dist/launch/timing.h"
#include "framework/core/error.h"
#include "framework/core/pool.h"
#include "framework/nn/cost.h"
#include "framework/nn/models/models.h"
#include "framework/ops/ctc.h"
#include "framework/ops/loss.h"
#include "framework/ops/shape.h"
#include "optim/registry.h"

namespace tg {
namespace {

constexpr int64_t kUsualPictures = 128, kUsualSequences = 32;
constexpr int kWarmUpSteps = 3, kFewestSteps = 7, kFewestSlowSteps = 3;

// Processor time of the whole process. With one thread this leaves out the time during which other programs had the
// core.
double cpu_seconds() {
  timespec t = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The most memory that this process has held.
int64_t peak_resident_bytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

Device device_named(const std::string& name) {
  if (name == name_of(kPlain)) return kPlain;
  require(name == name_of(kCpu), "--device: {} is none of cpu, plain", name);
  return kCpu;
}

Tensor made_samples(int64_t batch, const Shape& sample) {
  Tensor x = Tensor::empty(batch_of(batch, sample));
  const Stream stream = Stream(1).split("x");
  const Span values = x.span();
  for (int64_t i = 0; i < values.size; ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
  return x;
}

// Throws Error if this machine has less memory than a step and the server's velocity take.
void refuse_what_cannot_fit(const Spec& spec, int64_t samples) {
  const Shape batch = batch_of(samples, usual_input(spec));
  const ModelCost cost = cost_of(make_model(spec, usual_input(spec), usual_classes(spec)), batch);
  require_memory(fmt::format("bench step: {} with a batch {}", spec.str(), batch.str()),
                 static_cast<double>(cost.peak_bytes + cost.parameter_bytes), "choose a smaller --batch");
}

class Step {
 public:
  Step(const BenchStepOptions& options, const Spec& spec)
      : device_(device_named(options.device)),
        model_(make_model(spec, usual_input(spec), usual_classes(spec))),
        x_(to(made_samples(options.batch, usual_input(spec)), device_)),
        y_(Tensor::empty({options.batch}, DType::i32, device_)),
        gradient_(Tensor::zeros({model_.layout().size()}, DType::f32, device_)) {
    const Stream stream(1);
    const auto classes = static_cast<uint64_t>(usual_classes(spec));
    int32_t* labels = y_.data<int32_t>();
    for (int64_t i = 0; i < options.batch; ++i)
      labels[i] = static_cast<int32_t>(1 + stream.split("y").bits(static_cast<uint64_t>(i))[0] % (classes - 1));

    Tensor initial = Tensor::zeros({model_.layout().size()}, DType::f32, device_);
    model_.initialise(stream.split("init"), initial.span());
    rule_ = make_rule(Spec::parse("sgd:momentum=0.9", rule_infos(), "rule"));
    update_ = rule_->update(model_.layout(), initial.view());
    update_->join(0);
    // The model reads the server's parameters where they lie, and only reads them.
    const View theta = update_->theta();
    theta_ = Tensor::borrow(const_cast<float*>(theta.data), {theta.size}, device_);
  }

  void operator()() {
    model_.bind(theta_);  // new leaves, as at each step of a run
    gradients(loss_of(model_(x_, {})), model_.parameters(), gradient_.span());
    update_->apply(0, gradient_.view(), {.learning_rate = 0.01f, .peak_learning_rate = 0.01f});
  }

 private:
  // Of logits [N, classes], or [N, T, classes] for CTC: each sequence says one label, never class 0, the blank.
  Tensor loss_of(const Tensor& logits) const {
    if (logits.rank() == 2) return cross_entropy(logits, y_);
    const Shape n{logits.dim(0)};
    return ctc_loss(logits, y_.with_shape({n[0], 1}),
                    Tensor::full(n, static_cast<double>(logits.dim(1)), DType::i32, device_),
                    Tensor::full(n, 1, DType::i32, device_));
  }

  Device device_;
  Model model_;
  Tensor x_, y_, gradient_, theta_;
  std::unique_ptr<Rule> rule_;
  std::unique_ptr<Update> update_;
};

}  // namespace

int bench_step(const BenchStepOptions& asked) {
  BenchStepOptions options = asked;
  const Spec spec = Spec::parse(options.model, model_infos(), "model");
  if (options.batch == 0) options.batch = usual_input(spec).rank() == 2 ? kUsualSequences : kUsualPictures;
  refuse_what_cannot_fit(spec, options.batch);
  omp_set_num_threads(options.threads);
  Step step(options, spec);
  const double start = wall_seconds();
  step();
  const bool slow = wall_seconds() - start > std::max(options.seconds, 1.0);
  for (int i = 1; i < kWarmUpSteps; ++i) step();
  const int64_t system_calls = pool::stats().system_calls;
  std::vector<double> wall, cpu;
  const double end = wall_seconds() + options.seconds;
  while (std::ssize(wall) < (slow ? kFewestSlowSteps : kFewestSteps) || wall_seconds() < end) {
    const double wall_start = wall_seconds(), cpu_start = cpu_seconds();
    step();
    if (options.trim) pool::trim();
    wall.push_back(1e3 * (wall_seconds() - wall_start));
    cpu.push_back(1e3 * (cpu_seconds() - cpu_start));
  }
  const double median = quantile(wall, 0.5), median_cpu = quantile(cpu, 0.5);
  const double samples_per_second = 1e3 * static_cast<double>(options.batch) / median;
  const PoolStats pool = pool::stats();
  if (options.json) {
    const nlohmann::ordered_json line{{"model", options.model},
                                      {"batch", options.batch},
                                      {"device", options.device},
                                      {"threads", options.threads},
                                      {"steps", wall.size()},
                                      {"ms_per_step", median},
                                      {"cpu_ms_per_step", median_cpu},
                                      {"samples_per_second", samples_per_second},
                                      {"pool_bytes", pool.peak},
                                      {"system_calls", pool.system_calls - system_calls},
                                      {"resident_bytes", peak_resident_bytes()}};
    say(line.dump() + "\n");
  } else {
    // The line that tests/bench/side reads.
    say(
        fmt::format("RESULT bench={} impl=tardygrad threads={} n={} med_ms={:.4f} p10_ms={:.4f} p90_ms={:.4f} "
                    "min_ms={:.4f} cpu_ms={:.4f} items_s={:.1f}\n",
                    options.model, options.threads, wall.size(), median, quantile(wall, 0.1), quantile(wall, 0.9),
                    quantile(wall, 0), median_cpu, samples_per_second));
  }
  return 0;
}

}  // namespace tg
