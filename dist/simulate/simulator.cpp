#include "dist/simulate/simulator.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>

#include "dist/ahead_pool.h"
#include "dist/cores.h"
#include "dist/history/measure.h"
#include "dist/ledger.h"
#include "dist/shard.h"
#include "dist/worker_side.h"

namespace tg {
namespace {

void check(const Job& job, const SimulatorOptions& options) {
  check_job(job, "simulate");
  for (const double part : {options.link.latency, options.link.time_per_byte})
    require(part >= 0 && std::isfinite(part), "simulate: a link of {} a message and {} a byte; neither may be negative",
            options.link.latency, options.link.time_per_byte);
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

// A worker and what the engine knows of it.
struct Slot {
  WorkerSide worker;
  AheadPool::Handle task{};  // null while the worker waits for parameters
  int64_t tasks = 0;         // begun
  int64_t messages = 0;      // arrived
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
  void limit_ahead() { pool_.limit_ahead(job_.gradients - shard_.accepted() - 1); }
  Slot& slot(WorkerId id) { return slots_[static_cast<size_t>(id)]; }

  const Job& job_;
  const LinkModel link_;
  Observer& observer_;
  const OmpThreads one_thread_{1};  // vector passes of the loop stay on its thread: the other cores are the pool's
  const GammaClock clock_;
  std::unique_ptr<Gate> gate_;
  Shard shard_;
  std::vector<Slot> slots_;
  std::priority_queue<SimulatedEvent, std::vector<SimulatedEvent>, std::greater<>> events_;
  History history_;
  Ledger ledger_;

  double now_ = 0;
  int64_t scheduled_ = 0;    // events
  int64_t assigned_ = 0;     // batches
  int64_t evaluations_ = 0;  // begun
  bool ended_ = false;
  AheadPool pool_;  // destroyed first: its threads use the others
};

Simulation::Simulation(const Job& job, const SimulatorOptions& options, Observer& observer)
    : job_(job),
      link_(options.link),
      observer_(observer),
      clock_(options.clock, job.workers, Stream(job.seed).split("clock")),
      gate_(make_gate(job)),
      shard_(job, {.first = 0, .layout = job.task->layout()}, initial_parameters(job).view()),
      ledger_(job, pool_, observer, history_),
      pool_(pool_threads(job, options.pool_threads, "simulate"), job.threads_per_worker) {
  slots_.reserve(static_cast<size_t>(job.workers));
  for (WorkerId id = 0; id < job.workers; ++id) slots_.push_back({.worker = WorkerSide(id, job)});
}

History Simulation::run() {
  const auto start = std::chrono::steady_clock::now();
  join();
  while (!ended_) {
    require(!events_.empty(), "simulate: after {} of {} gradients the rule's gate lets no worker go on",
            shard_.accepted(), job_.gradients);
    const SimulatedEvent event = events_.top();
    events_.pop();
    now_ = event.time;
    if (event.kind == SimulatedEvent::Kind::computed)
      computed(event.worker);
    else
      arrived(event.worker);
    ledger_.report_evaluations(false);
  }

  if (history_.status != History::Status::stopped) ledger_.report_evaluations(true);
  pool_.close();
  ledger_.report_evaluations(false);
  check_test_losses(history_);

  for (const Slot& slot : slots_) history_.gradient_seconds += slot.worker.seconds();
  history_.update_seconds = shard_.seconds();
  history_.theta.assign(shard_.theta().begin(), shard_.theta().end());
  history_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(history_);
}

void Simulation::join() {
  limit_ahead();
  Release released;
  for (WorkerId id = 0; id < job_.workers; ++id) {
    tell(shard_.join(id));
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
    fail("update {}: worker {}, batch {}: {}", shard_.accepted(), id, shard_.batch(id), error.what());
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
    tell(shard_.refuse(id, from.worker.outcome().loss));
  }
  if (ended_) return;

  // Replies come first: it is with them that a synchronous rule closes its round. After the last gradient they are
  // written, but not sent.
  for (const WorkerId released : verdict.release) reply(released);
  if (!verdict.taken) return;
  const bool last = shard_.accepted() == job_.gradients;
  if (last || (job_.evaluate_every > 0 && shard_.accepted() % job_.evaluate_every == 0)) evaluate();
  if (last && !ended_) end(History::Status::finished);
}

void Simulation::take(WorkerId id) {
  Slot& from = slot(id);
  const WorkerSide::Outcome& outcome = from.worker.outcome();
  const int64_t update = shard_.accepted();
  if (!std::isfinite(outcome.loss))
    return end(History::Status::diverged,
               fmt::format("at update {}: {}", update, from.worker.trouble(shard_.batch(id))));

  const View sent = from.worker.sent();
  const UpdateRecord record{
      .update = update,
      .worker = id,
      .batch = shard_.batch(id),
      .lag = shard_.lag(id),
      .gap = root_mean_square(shard_.squared_gap(sent), job_.task->layout().count()),
      .loss = outcome.loss,
      .learning_rate = shard_.told(id).learning_rate,
      .time = now_,
      .bytes_up = outcome.bytes,
      .bytes_down = from.bytes_down,
  };
  const Event event = shard_.take(id, from.worker.message(), sent, outcome.loss);
  limit_ahead();
  history_.virtual_time = now_;
  tell(event);
  ledger_.update(record);
  ledger_.report_next();
}

void Simulation::reply(WorkerId id) {
  require(id >= 0 && id < job_.workers, "simulate: the rule's gate lets worker {} go on, which does not exist", id);
  Slot& to = slot(id);
  const float rate = job_.schedule.rate(shard_.accepted());
  if (shard_.accepted() == job_.gradients) return tell(shard_.release(id, rate, to.worker.reply()));

  const Event event = shard_.assign(id, assigned_++, rate, to.worker.reply());
  const int64_t task = to.tasks++;
  to.bytes_down = to.worker.receive(task);
  tell(event);

  const double ready = now_ + link_.duration(to.bytes_down) + clock_.duration(id, task);
  to.task = pool_.submit(
      ready, [&to, task, batch = event.batch, info = shard_.told(id)] { to.worker.work(task, batch, info); });
  schedule(ready, SimulatedEvent::Kind::computed, id);
}

void Simulation::evaluate() {
  tell(shard_.evaluate(evaluations_++));
  ledger_.evaluation(shard_.accepted(), now_, copy_of(shard_.theta()));
  if (!ledger_.trouble().empty()) end(History::Status::diverged, ledger_.trouble());
}

void Simulation::end(History::Status status, std::string message) {
  ended_ = true;
  history_.status = status;
  history_.message = std::move(message);
  tell(shard_.end(status == History::Status::finished ? Event::Kind::finish : Event::Kind::stop));
  pool_.limit_ahead(0);
}

void Simulation::schedule(double time, SimulatedEvent::Kind kind, WorkerId worker) {
  events_.push({time, scheduled_++, kind, worker});
}

void Simulation::tell(Event event) {
  event.time = now_;
  observer_.on_event(0, event);
}

}  // namespace

History simulate(const Job& job, const SimulatorOptions& options, Observer& observer) {
  check(job, options);
  return Simulation(job, options, observer).run();
}

}  // namespace tg
