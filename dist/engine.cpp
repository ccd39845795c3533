#include "dist/engine.h"

#include <algorithm>
#include <cmath>

#include "dist/cores.h"

namespace tg {
namespace {

constexpr int kMostWorkers = 65536;
constexpr int kMostThreads = 4096;
constexpr int64_t kMostBatches = 1 << 20;

}  // namespace

int64_t Job::messages() const { return (gradients - 1) / rule->batches() + 1; }

int64_t Job::gradients_of(int64_t messages) const { return std::min(messages * rule->batches(), gradients); }

int64_t Job::batches_of(int64_t first) const {
  return first < gradients ? std::min(rule->batches(), gradients - first) : rule->batches();
}

bool Job::due(int64_t every, int64_t messages) const {
  return every > 0 && gradients_of(messages) / every > gradients_of(messages - 1) / every;
}

void check_job(const Job& job, const char* engine) {
  require(job.task && job.rule && job.codec_up && job.codec_down, "{}: the job lacks a task, a rule or a codec",
          engine);
  require(job.workers >= 1 && job.workers <= kMostWorkers, "{}: {} workers; from 1 to {} are possible", engine,
          job.workers, kMostWorkers);
  require(job.workers == 1 || !job.rule->sequential(), "{}: this rule is sequential: give it 1 worker, not {}", engine,
          job.workers);
  require(job.gradients >= 1, "{}: a run of {} gradients; there must be at least 1", engine, job.gradients);
  require(job.rule->batches() >= 1 && job.rule->batches() <= kMostBatches,
          "{}: messages of {} minibatches; from 1 to {} are possible", engine, job.rule->batches(), kMostBatches);
  require(job.evaluate_every >= 0, "{}: an evaluation every {} gradients; use 0 for one at the end alone", engine,
          job.evaluate_every);
  require(job.clip_norm >= 0 && std::isfinite(job.clip_norm),
          "{}: gradients are clipped to a norm of {}; it must be a number above 0, or 0 for none", engine,
          job.clip_norm);
  require(job.snapshot_every >= 0, "{}: a snapshot every {} gradients; use 0 for none", engine, job.snapshot_every);
  require(job.threads_per_worker >= 1 && job.threads_per_worker <= kMostThreads,
          "{}: {} threads per worker; from 1 to {} are possible", engine, job.threads_per_worker, kMostThreads);
  require(job.task->layout().count() > 0, "{}: the task has no parameters", engine);
  require(job.task->batches_per_epoch() > 0, "{}: the task has no batches", engine);
  const auto gate = make_gate(job);
  gate->check(job.workers);
  require(!job.rule->needs_rounds() || gate->in_rounds(),
          "{}: this rule takes a step at the end of a round, and its gate has none: use bsp, or the rule's own",
          engine);
}

int pool_threads(const Job& job, int asked, const char* engine) {
  require(asked >= 0 && asked <= kMostThreads,
          "{}: a pool of {} threads; from 1 to {} are possible, or 0 for one per core", engine, asked, kMostThreads);
  if (asked > 0) return asked;
  const int cores = static_cast<int>(usable_cores().size());
  return std::clamp(cores / job.threads_per_worker, 1, job.workers + 1);  // one for evaluations
}

std::unique_ptr<Gate> make_gate(const Job& job) { return job.gate ? job.gate() : job.rule->gate(); }

Tensor initial_parameters(const Job& job) {
  Tensor theta = Tensor::zeros({job.task->layout().size()});
  job.task->initial(job.seed, theta.span());
  return theta;
}

Tensor copy_of(View values) {
  Tensor copy = Tensor::empty({values.size});
  std::copy(values.begin(), values.end(), copy.span().begin());
  return copy;
}

}  // namespace tg
