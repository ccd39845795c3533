#include "dist/simulate/simulator.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>

#include "dist/history/measure.h"
#include "dist/simulate/ahead_pool.h"
#include "dist/simulate/evaluations.h"
#include "dist/simulate/simulated_worker.h"

namespace tg {
namespace {

using Clock = std::chrono::steady_clock;

// A NaN has no sign that means anything.
double number(double value) { return std::isnan(value) ? std::abs(value) : value; }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Vector passes of the event loop stay on its thread: the other cores belong to the pool.
class OneOmpThread {
 public:
  OneOmpThread() { omp_set_num_threads(1); }
  ~OneOmpThread() { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
};

constexpr int kMostWorkers = 65536;
constexpr int kMostThreads = 4096;

void check(const Job& job, const SimulatorOptions& options) {
  require(job.task && job.rule && job.codec_up && job.codec_down, "simulate: the job lacks a task, a rule or a codec");
  require(job.workers >= 1 && job.workers <= kMostWorkers, "simulate: {} workers; from 1 to {} are possible",
          job.workers, kMostWorkers);
  require(job.workers == 1 || !job.rule->sequential(), "simulate: this rule is sequential: give it 1 worker, not {}",
          job.workers);
  require(job.gradients >= 1, "simulate: a run of {} gradients; there must be at least 1", job.gradients);
  require(job.evaluate_every >= 0, "simulate: an evaluation every {} gradients; use 0 for one at the end alone",
          job.evaluate_every);
  require(job.threads_per_worker >= 1 && job.threads_per_worker <= kMostThreads,
          "simulate: {} threads per worker; from 1 to {} are possible", job.threads_per_worker, kMostThreads);
  require(options.pool_threads >= 0 && options.pool_threads <= kMostThreads,
          "simulate: a pool of {} threads; from 1 to {} are possible, or 0 for one per core", options.pool_threads,
          kMostThreads);
  for (const double part : {options.link.latency, options.link.time_per_byte})
    require(part >= 0 && std::isfinite(part), "simulate: a link of {} a message and {} a byte; neither may be negative",
            options.link.latency, options.link.time_per_byte);
  require(job.task->layout().count() > 0, "simulate: the task has no parameters");
  require(job.task->batches_per_epoch() > 0, "simulate: the task has no batches");
}

int pool_threads(const Job& job, const SimulatorOptions& options) {
  if (options.pool_threads > 0) return options.pool_threads;
  const int cores = static_cast<int>(usable_cores().size());
  return std::clamp(cores / job.threads_per_worker, 1, job.workers + 1);  // one for evaluations
}

Tensor initial_parameters(const Job& job) {
  Tensor theta = Tensor::zeros({job.task->layout().size()});
  job.task->initial(job.seed, theta.span());
  return theta;
}

// Two events per task.
struct SimulatedEvent {
  enum class Kind {
    computed,  // the worker has its message ready and sends it
    arrived,   // the message is at the server
  };
  double time = 0;
  int64_t number = 0;  // of events at one time, the one that was scheduled first happens first
  Kind kind = Kind::computed;
  WorkerId worker = 0;

  bool operator>(const SimulatedEvent& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

// A worker and what the server knows of it.
struct Slot {
  SimulatedWorker worker;
  AheadPool::Handle task{};  // null while the worker waits for parameters
  StepInfo info{};           // as it was when the worker was sent parameters
  int64_t batch = 0;
  int64_t tasks = 0;     // begun
  int64_t messages = 0;  // arrived
  int64_t changes = 0;   // of theta, before the worker was sent parameters
  int64_t bytes_down = 0;
};

class Simulation {
 public:
  Simulation(const Job& job, const SimulatorOptions& options, Observer& observer);
  History run();

 private:
  void join();
  void computed(WorkerId id);
  void wait_for(WorkerId id);
  void arrived(WorkerId id);
  void take(WorkerId id);
  void reply(WorkerId id);
  void evaluate();
  void end(History::Status status, std::string message = {});
  void schedule(double time, SimulatedEvent::Kind kind, WorkerId worker);
  void tell(Event event);
  // Beside the message that is waited for, so many are needed at most.
  void limit_ahead() { pool_.limit_ahead(job_.gradients - accepted_ - 1); }
  Slot& slot(WorkerId id) { return slots_[static_cast<size_t>(id)]; }

  const Job& job_;
  const LinkModel link_;
  Observer& observer_;
  const OneOmpThread one_omp_thread_;
  const GammaClock clock_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Update> update_;
  std::vector<Slot> slots_;
  std::priority_queue<SimulatedEvent, std::vector<SimulatedEvent>, std::greater<>> events_;
  History history_;
  Evaluations evaluations_;

  double now_ = 0;
  int64_t scheduled_ = 0;  // events
  int64_t assigned_ = 0;   // batches
  int64_t accepted_ = 0;   // gradients
  int64_t changes_ = 0;    // of theta
  double loss_sum_ = 0;    // of the gradients accepted since the last evaluation
  int64_t last_evaluated_ = 0;
  bool ended_ = false;
  AheadPool pool_;  // destroyed first: its threads use the others
};

Simulation::Simulation(const Job& job, const SimulatorOptions& options, Observer& observer)
    : job_(job),
      link_(options.link),
      observer_(observer),
      clock_(options.clock, job.workers, Stream(job.seed).split("clock")),
      gate_(job.rule->gate()),
      update_(job.rule->update(job.task->layout(), initial_parameters(job).view())),
      evaluations_(job, pool_, observer, history_.evaluations),
      pool_(pool_threads(job, options), job.threads_per_worker) {
  slots_.reserve(static_cast<size_t>(job.workers));
  for (WorkerId id = 0; id < job.workers; ++id) slots_.push_back({.worker = SimulatedWorker(id, job)});
}

History Simulation::run() {
  const auto start = Clock::now();
  join();
  while (!ended_) {
    require(!events_.empty(), "simulate: after {} of {} gradients the rule's gate lets no worker go on", accepted_,
            job_.gradients);
    const SimulatedEvent event = events_.top();
    events_.pop();
    now_ = event.time;
    if (event.kind == SimulatedEvent::Kind::computed)
      computed(event.worker);
    else
      arrived(event.worker);
    evaluations_.report_done();
  }

  if (history_.status != History::Status::stopped) evaluations_.report_all();
  pool_.close();
  evaluations_.report_done();
  for (const EvaluationRecord& record : history_.evaluations)
    if (history_.status == History::Status::finished && !std::isfinite(record.test_loss))
      end(History::Status::diverged,
          fmt::format("after {} gradients: the test loss is {}", record.gradients, number(record.test_loss)));

  for (const Slot& slot : slots_) history_.gradient_seconds += slot.worker.seconds();
  history_.theta.assign(update_->theta().begin(), update_->theta().end());
  history_.seconds = seconds_since(start);
  return std::move(history_);
}

void Simulation::join() {
  limit_ahead();
  Release released;
  for (WorkerId id = 0; id < job_.workers; ++id) {
    update_->join(id);
    tell({.kind = Event::Kind::join, .worker = id, .batch = -1});
    for (const WorkerId other : gate_->join(id)) released.push_back(other);
  }
  for (const WorkerId id : released) reply(id);
}

void Simulation::computed(WorkerId id) {
  // The message itself is only waited for where its size matters: near the end of a run it may not be needed.
  const std::optional<int64_t> fixed_bytes = slot(id).worker.fixed_bytes();
  if (!fixed_bytes) wait_for(id);
  const int64_t bytes = fixed_bytes ? *fixed_bytes : slot(id).worker.outcome().bytes;
  schedule(now_ + link_.duration(bytes), SimulatedEvent::Kind::arrived, id);
}

void Simulation::wait_for(WorkerId id) {
  try {
    pool_.wait(slot(id).task);
  } catch (const std::exception& error) {
    fail("update {}: worker {}, batch {}: {}", accepted_, id, slot(id).batch, error.what());
  }
}

void Simulation::arrived(WorkerId id) {
  if (observer_.stop()) return end(History::Status::stopped);
  wait_for(id);
  Slot& from = slot(id);
  from.task.reset();
  const Verdict verdict = gate_->arrive(id, from.messages++);
  if (verdict.taken) {
    take(id);
  } else {
    from.worker.not_taken();
    tell({.kind = Event::Kind::arrive,
          .taken = false,
          .worker = id,
          .batch = from.batch,
          .learning_rate = from.info.learning_rate});
  }
  if (ended_) return;

  // Replies come first: it is with them that a synchronous rule closes its round. After the last gradient they are
  // written, but not sent.
  for (const WorkerId released : verdict.release) reply(released);
  if (!verdict.taken) return;
  const bool last = accepted_ == job_.gradients;
  if (last || (job_.evaluate_every > 0 && accepted_ % job_.evaluate_every == 0)) evaluate();
  if (last && !ended_) {
    tell({.kind = Event::Kind::finish, .worker = -1, .batch = -1});
    end(History::Status::finished);
  }
}

void Simulation::take(WorkerId id) {
  Slot& from = slot(id);
  const SimulatedWorker::Outcome& outcome = from.worker.outcome();
  if (!std::isfinite(outcome.loss))
    return end(History::Status::diverged, fmt::format("at update {}: worker {}'s loss is {} (batch {})", accepted_, id,
                                                      number(outcome.loss), from.batch));

  const UpdateRecord record{
      .update = accepted_,
      .worker = id,
      .batch = from.batch,
      .lag = changes_ - from.changes,
      .gap = rms_difference(update_->theta(), from.worker.sent(), job_.task->layout().count()),
      .loss = outcome.loss,
      .learning_rate = from.info.learning_rate,
      .time = now_,
      .bytes_up = outcome.bytes,
      .bytes_down = from.bytes_down,
  };
  StepInfo info = from.info;
  info.accepted = accepted_;
  info.lag = record.lag;
  if (job_.rule->needs_sent()) info.sent = from.worker.sent();
  const auto start = Clock::now();
  update_->apply(id, from.worker.message(), info);
  history_.update_seconds += seconds_since(start);

  ++accepted_;
  if (update_->theta_changed()) ++changes_;
  loss_sum_ += outcome.loss;
  limit_ahead();
  history_.virtual_time = now_;
  history_.updates.push_back(record);
  tell({.kind = Event::Kind::arrive, .worker = id, .batch = from.batch, .learning_rate = from.info.learning_rate});
  observer_.on_update(record);
}

void Simulation::reply(WorkerId id) {
  require(id >= 0 && id < job_.workers && !slot(id).task, "simulate: the rule's gate lets worker {} go on, which {}",
          id, id >= 0 && id < job_.workers ? "is at work" : "does not exist");
  Slot& to = slot(id);
  to.info = {.learning_rate = job_.schedule.rate(accepted_),
             .peak_learning_rate = job_.schedule.peak(),
             .accepted = accepted_,
             .workers = job_.workers,
             .sent = {}};
  to.changes = changes_;
  const auto start = Clock::now();
  update_->reply(id, to.worker.reply(), to.info);
  history_.update_seconds += seconds_since(start);

  if (accepted_ == job_.gradients) return;
  const int64_t task = to.tasks++;
  to.batch = assigned_++;
  to.bytes_down = to.worker.receive(task);
  tell({.kind = Event::Kind::assign, .worker = id, .batch = to.batch, .learning_rate = to.info.learning_rate});

  const double ready = now_ + link_.duration(to.bytes_down) + clock_.duration(id, task);
  to.task = pool_.submit(ready, [&to, task] { to.worker.work(task, to.batch, to.info); });
  schedule(ready, SimulatedEvent::Kind::computed, id);
}

void Simulation::evaluate() {
  const View theta = update_->theta();
  tell({.kind = Event::Kind::evaluate, .worker = -1, .batch = -1});
  if (!all_finite(theta))
    return end(History::Status::diverged,
               fmt::format("at update {}: parameters are not finite any more", accepted_ - 1));
  evaluations_.start({.gradients = accepted_,
                      .epoch = static_cast<double>(accepted_) / static_cast<double>(job_.task->batches_per_epoch()),
                      .time = now_,
                      .train_loss = loss_sum_ / static_cast<double>(accepted_ - last_evaluated_)},
                     theta);
  loss_sum_ = 0;
  last_evaluated_ = accepted_;
}

void Simulation::end(History::Status status, std::string message) {
  ended_ = true;
  history_.status = status;
  history_.message = std::move(message);
  pool_.limit_ahead(0);
}

void Simulation::schedule(double time, SimulatedEvent::Kind kind, WorkerId worker) {
  events_.push({time, scheduled_++, kind, worker});
}

void Simulation::tell(Event event) {
  event.version = accepted_;
  event.time = now_;
  observer_.on_event(event);
}

}  // namespace

History simulate(const Job& job, const SimulatorOptions& options, Observer& observer) {
  check(job, options);
  return Simulation(job, options, observer).run();
}

}  // namespace tg
