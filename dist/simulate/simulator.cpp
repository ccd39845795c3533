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
#include "dist/snapshot/mark.h"
#include "dist/snapshot/records.h"
#include "dist/worker_side.h"

namespace tg {
namespace {

constexpr const char* kName = "simulate";

void check(const Job& job, const SimulatorOptions& options) {
  check_job(job, kName);
  for (const double part : {options.link.latency, options.link.time_per_byte})
    require(part >= 0 && std::isfinite(part),
            "simulate: a link of {} time units a message and {} a byte; use finite numbers from 0 on",
            options.link.latency, options.link.time_per_byte);
}

// There are two events for each task of a worker.
struct SimulatedEvent {
  double time = 0;
  int64_t number = 0;    // of events at one time, the one that was scheduled first happens first
  bool arrived = false;  // false: the worker has its message ready and sends it; true: the message is at the server
  WorkerId worker = 0;

  bool operator>(const SimulatedEvent& other) const {
    return time != other.time ? time > other.time : number > other.number;
  }
};

constexpr std::tuple kEventFields{Field("time", &SimulatedEvent::time), Field("number", &SimulatedEvent::number),
                                  Field("arrived", &SimulatedEvent::arrived), Field("worker", &SimulatedEvent::worker)};

// A worker and what the engine knows of it.
struct Slot {
  WorkerSide worker;
  AheadPool::Handle task{};  // the computation; null while the worker waits, or if its message is from a snapshot
  int64_t tasks = 0;         // begun
  int64_t messages = 0;      // arrived
  int64_t bytes_down = 0;
};

class Simulation {
 public:
  Simulation(const Job& job, const SimulatorOptions& options, Observer& observer);
  History run();

 private:
  double seconds() const;  // on the clock on the wall
  void join();
  void computed(WorkerId id);
  void wait_for(WorkerId id);
  void arrived(WorkerId id);
  void take(WorkerId id);
  void reply(WorkerId id);
  void evaluate();
  void take_snapshot();
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);
  void end(History::Status status, std::string message = {});
  void schedule(double time, bool arrived, WorkerId worker);
  void tell(Event event);
  // Beside the message that arrives next, the run needs no more messages than these.
  void limit_ahead() { pool_.limit_ahead(job_.messages() - shard_.accepted() - 1); }
  Slot& slot(WorkerId id) { return slots_[static_cast<size_t>(id)]; }

  const Job& job_;
  const LinkModel link_;
  Observer& observer_;
  const OmpThreads one_thread_{1};  // for this thread's own vector loops: the other cores belong to the pool
  const GammaClock clock_;
  std::unique_ptr<Gate> gate_;
  Shard shard_;
  std::vector<Slot> slots_;
  std::priority_queue<SimulatedEvent, std::vector<SimulatedEvent>, std::greater<>> events_;
  History history_;
  Ledger ledger_;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_before_ = 0;  // until the snapshot that the run goes on from
  double now_ = 0;
  int64_t scheduled_ = 0;    // events
  int64_t assigned_ = 0;     // messages
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
      pool_(pool_threads(job, options.pool_threads, kName), job.threads_per_worker) {
  slots_.reserve(static_cast<size_t>(job.workers));
  for (WorkerId id = 0; id < job.workers; ++id) slots_.push_back({.worker = WorkerSide(id, job)});
}

History Simulation::run() {
  if (job_.resume)
    load(reader_of(job_, kName, 1));
  else
    join();
  while (!ended_) {
    require(!events_.empty(), "simulate: after {} of {} gradients the rule's gate lets no worker go on",
            job_.gradients_of(shard_.accepted()), job_.gradients);
    const SimulatedEvent event = events_.top();
    const bool stop = event.arrived && observer_.stop();
    if (stop && job_.snapshot_every > 0) take_snapshot();
    events_.pop();
    now_ = event.time;
    if (stop)
      end(History::Status::stopped);
    else if (event.arrived)
      arrived(event.worker);
    else
      computed(event.worker);
    ledger_.report_evaluations(false);
  }

  if (history_.status != History::Status::stopped) ledger_.report_evaluations(true);
  pool_.close();
  ledger_.report_evaluations(false);
  check_test_losses(history_);

  for (const Slot& slot : slots_) history_.gradient_seconds += slot.worker.seconds();
  history_.update_seconds = shard_.seconds();
  history_.theta.assign(shard_.theta().begin(), shard_.theta().end());
  history_.seconds = seconds();
  return std::move(history_);
}

double Simulation::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
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
  schedule(now_ + link_.duration(bytes), true, id);
}

void Simulation::wait_for(WorkerId id) {
  try {
    if (slot(id).task) pool_.wait(slot(id).task);
  } catch (const std::exception& error) {
    fail("update {}: worker {}, batch {}: {}", shard_.accepted(), id, shard_.batch(id), error.what());
  }
}

void Simulation::arrived(WorkerId id) {
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
  const bool last = shard_.accepted() == job_.messages();
  if (last || job_.due(job_.evaluate_every, shard_.accepted())) evaluate();
  if (ended_) return;
  if (last) return end(History::Status::finished);
  if (job_.due(job_.snapshot_every, shard_.accepted())) take_snapshot();
}

void Simulation::take(WorkerId id) {
  Slot& from = slot(id);
  const WorkerSide::Outcome& outcome = from.worker.outcome();
  if (!std::isfinite(outcome.loss))
    return end(History::Status::diverged,
               fmt::format("at update {}: {}", shard_.accepted(), from.worker.trouble(shard_.batch(id))));

  const View sent = from.worker.sent();
  UpdateRecord record = shard_.record(id);
  record.gap = root_mean_square(shard_.squared_gap(id, sent), gap_coordinates(job_));
  record.loss = outcome.loss;
  record.time = now_;
  record.bytes_up = outcome.bytes;
  record.bytes_down = from.bytes_down;
  if (Terms* const terms = observer_.explain_to(0, id, record.batch, shard_.theta()))
    shard_.explain(id, from.worker.message(), sent, *terms);
  const Event event = shard_.take(id, from.worker.message(), sent, from.worker.ahead(), outcome.loss);
  limit_ahead();
  history_.virtual_time = now_;
  tell(event);
  ledger_.update(record);
  ledger_.report_next();
}

void Simulation::reply(WorkerId id) {
  require(id >= 0 && id < job_.workers, "simulate: the rule's gate lets worker {} go on, which does not exist", id);
  Slot& to = slot(id);
  const float rate = job_.schedule.rate(job_.gradients_of(shard_.accepted()));
  if (shard_.accepted() == job_.messages()) return tell(shard_.release(id, rate, to.worker.reply()));

  const Event event = shard_.assign(id, assigned_++ * job_.rule->batches(), rate, to.worker.reply());
  const int64_t task = to.tasks++;
  to.bytes_down = to.worker.receive(task);
  tell(event);

  double ready = now_ + link_.duration(to.bytes_down);
  for (int64_t i = 0; i < job_.batches_of(event.batch); ++i)
    ready += clock_.duration(id, task * job_.rule->batches() + i);
  to.task = pool_.submit(
      ready, [&to, task, batch = event.batch, info = shard_.told(id)] { to.worker.work(task, batch, info); });
  schedule(ready, false, id);
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

void Simulation::schedule(double time, bool arrived, WorkerId worker) {
  events_.push({time, scheduled_++, arrived, worker});
}

// Waits for all gradients that are being computed first: a finished message can be saved, a computation cannot.
void Simulation::take_snapshot() {
  for (WorkerId id = 0; id < job_.workers; ++id)
    if (shard_.at_work(id)) wait_for(id);
  Snapshot snapshot;
  mark(snapshot, job_, kName, 1);
  save(SnapshotWriter(snapshot));
  observer_.on_snapshot(snapshot, job_.gradients_of(shard_.accepted()));
}

void Simulation::save(SnapshotWriter to) const {
  to.write_real("seconds", seconds());
  to.write_real("now", now_);
  to.write_real("last_update", history_.virtual_time);
  to.write("scheduled", scheduled_);
  to.write("assigned", assigned_);
  to.write("evaluations", evaluations_);
  gate_->save(to);
  shard_.save(to.part("shard0"));
  for (WorkerId id = 0; id < job_.workers; ++id) {
    const Slot& of = slots_[static_cast<size_t>(id)];
    SnapshotWriter worker = to.part(fmt::format("worker{}", id));
    worker.write("tasks", of.tasks);
    worker.write("messages", of.messages);
    worker.write("bytes_down", of.bytes_down);
    of.worker.save(worker, shard_.at_work(id));
  }
  std::vector<SimulatedEvent> queue;
  for (auto rest = events_; !rest.empty(); rest.pop()) queue.push_back(rest.top());
  write_records(to, "queue", queue, kEventFields);
  ledger_.save(to.part("history"));
}

void Simulation::load(const SnapshotReader& from) {
  seconds_before_ = from.read_real("seconds");
  now_ = from.read_real("now");
  history_.virtual_time = from.read_real("last_update");
  scheduled_ = from.read("scheduled", 0, kMostCounted);
  assigned_ = from.read("assigned", 0, kMostCounted);
  evaluations_ = from.read("evaluations", 0, kMostCounted);
  gate_->load(from);
  shard_.load(from.part("shard0"));
  ledger_.load(from.part("history"));
  from.require_here(ledger_.reported() == shard_.accepted(), "{} updates are recorded, {} were taken in",
                    ledger_.reported(), shard_.accepted());
  std::vector<int> under_way;
  for (WorkerId id = 0; id < job_.workers; ++id) {
    const SnapshotReader worker = from.part(fmt::format("worker{}", id));
    slot(id).tasks = worker.read("tasks", 0, kMostCounted);
    slot(id).messages = worker.read("messages", 0, kMostCounted);
    slot(id).bytes_down = worker.read("bytes_down");
    slot(id).worker.load(worker, shard_.at_work(id));
    under_way.push_back(shard_.at_work(id));
  }
  for (const SimulatedEvent& event : read_records(from, "queue", kEventFields)) {
    from.require_here(event.time >= now_ && event.worker >= 0 && event.worker < job_.workers &&
                          under_way[static_cast<size_t>(event.worker)]-- == 1,
                      "the queue has worker {} at {}, where nothing can happen to it", event.worker, event.time);
    events_.push(event);
  }
  limit_ahead();
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
