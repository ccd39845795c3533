#include "dist/threads/threads.h"

#include <omp.h>
#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <system_error>
#include <thread>

#include "dist/ahead_pool.h"
#include "dist/cores.h"
#include "dist/ledger.h"
#include "dist/snapshot/mark.h"
#include "dist/threads/hogwild.h"
#include "dist/threads/shard_server.h"
#include "dist/threads/watch.h"

namespace tg {
namespace {

constexpr const char* kName = "threads";
constexpr auto kBetweenReports = std::chrono::milliseconds(5);

void check(const Job& job, const ThreadsOptions& options) {
  check_job(job, kName);
  require(options.note_after > 0 && options.fail_after > 0,
          "threads: a wait of {} s before a note and {} s before a failure; both must be positive", options.note_after,
          options.fail_after);
  const std::vector<int> usable = usable_cores();
  std::string names;
  for (const int core : usable) names += (names.empty() ? "" : ", ") + std::to_string(core);
  for (const int core : options.cores)
    require(std::find(usable.begin(), usable.end(), core) != usable.end(),
            "threads: core {} is none of those that this process may use: {}", core, names);
  const char* bind = std::getenv("OMP_PROC_BIND");
  require(bind == nullptr || ::strcasecmp(bind, "false") == 0,
          "threads: OMP_PROC_BIND={} would confine all workers to one core: unset it, and use cores instead", bind);
  require(!options.hogwild || options.shards == 1, "threads: hogwild has no locks, so shards have no use: give it 1");
}

// The cores on which this worker stays (ThreadsOptions::cores).
std::vector<int> cores_of(const ThreadsOptions& options, const Job& job, WorkerId worker) {
  std::vector<int> cores;
  const size_t threads = static_cast<size_t>(job.threads_per_worker);
  for (size_t i = 0; i < std::min(threads, options.cores.size()); ++i)
    cores.push_back(options.cores[(static_cast<size_t>(worker) * threads + i) % options.cores.size()]);
  return cores;
}

std::unique_ptr<Server> make_server(RunState& run, const ThreadsOptions& options) {
  if (options.hogwild) return std::make_unique<HogwildServer>(run);
  return std::make_unique<ShardServer>(run, options.shards);
}

// The message of the exception that is being handled; only within a catch block.
std::string current_message() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

class Engine {
 public:
  Engine(const Job& job, const ThreadsOptions& options, Observer& observer)
      : job_(job),
        options_(options),
        observer_(observer),
        run_(job),
        server_(make_server(run_, options)),
        ledger_(job, pool_, observer, history_),
        pool_(1, job.threads_per_worker) {
    plan_snapshot();
  }
  ~Engine();
  History run();

 private:
  void start();
  void work(Seat& seat);
  bool prepare(Seat& seat);
  void work_on(Seat& seat);
  void keep_books();
  void report();
  void watch();
  void stop();
  void plan_snapshot();
  void look_after_snapshots();
  void save(SnapshotWriter to) const;
  void load(const SnapshotReader& from);
  History result();

  const Job& job_;
  const ThreadsOptions& options_;
  Observer& observer_;
  RunState run_;
  std::unique_ptr<Server> server_;
  History history_;
  Ledger ledger_;
  Watch watch_{run_, options_};
  Mail mail_;                  // a member only to use its memory again
  AheadPool pool_;             // for evaluations; destroyed before what they use
  int64_t next_snapshot_ = 0;  // due when so many gradients are accepted
  bool stopping_ = false;      // the observer wants to stop; a snapshot may have to be taken first

  std::latch prepared_{job_.workers}, opened_{1};
  std::mutex mutex_;
  std::condition_variable changed_;
  int alive_ = 0;  // threads; under the mutex
  std::vector<std::thread> threads_;
};

// No thread outlives the engine, also when an exception leaves run().
Engine::~Engine() {
  server_->end(History::Status::stopped, "");
  run_.go_on();
  if (!opened_.try_wait()) opened_.count_down();
  for (std::thread& thread : threads_) thread.join();
}

History Engine::run() {
  start();
  keep_books();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  report();
  if (!run_.failure().empty()) fail("{}", run_.failure());
  if (!run_.status()) {
    const LostWorker& first = history_.lost.front();
    fail("threads: all workers are lost, after {} of {} gradients; the first was worker {}, after {}: {}",
         job_.gradients_of(run_.taken), job_.gradients, first.worker, first.update, first.reason);
  }
  return result();
}

void Engine::start() {
  alive_ = job_.workers;
  try {
    for (Seat& seat : run_.seats) threads_.emplace_back([this, &seat] { work(seat); });
  } catch (const std::system_error& error) {
    run_.fail(fmt::format("threads: the system starts no more than {} of {} threads: {}", threads_.size(), job_.workers,
                          error.what()));
    fail("{}", run_.failure());
  }
  prepared_.wait();
  if (run_.failure().empty()) {
    if (job_.resume)
      load(reader_of(job_, kName, options_.shards));
    else
      server_->open();
  }
  opened_.count_down();
}

void Engine::work(Seat& seat) {
  const bool ready = prepare(seat);
  prepared_.count_down();
  opened_.wait();
  if (ready && run_.failure().empty() && seat.present) work_on(seat);
  seat.enter(Seat::State::gone, run_.seconds());
  const std::lock_guard lock(mutex_);
  --alive_;
  changed_.notify_one();
}

// The first thing on a worker's thread: memory is placed near the core that touches it first.
bool Engine::prepare(Seat& seat) {
  try {
    const std::vector<int> cores = cores_of(options_, job_, seat.id);
    omp_set_num_threads(job_.threads_per_worker);
    (void)
        omp_get_max_threads();  // clang's runtime gives a thread all cores when it first sees it: before the next line
    if (!cores.empty()) stay_on(cores);
    seat.side.emplace(seat.id, job_);
    return true;
  } catch (...) {
    run_.fail(fmt::format("threads: worker {} cannot begin: {}", seat.id, current_message()));
    return false;
  }
}

void Engine::work_on(Seat& seat) {
  try {
    if (!server_->begin(seat)) return;
    do {
      run_.rest_if_paused(seat);
      if (run_.over) return;
      try {
        const int64_t task = seat.tasks++;
        seat.task = task;
        seat.enter(Seat::State::computing, run_.seconds());
        seat.bytes_down = seat.side->receive(task);
        seat.side->work(task, seat.batch, seat.info);
      } catch (...) {
        server_->leave(seat, fmt::format("batch {}: {}", seat.batch, current_message()));
        return;
      }
    } while (server_->exchange(seat));
  } catch (...) {
    run_.fail(fmt::format("update {}: worker {}: {}", run_.taken.load(), seat.id, current_message()));
    server_->end(History::Status::stopped, "");
  }
}

// Until all threads have ended.
void Engine::keep_books() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kBetweenReports, [this] { return alive_ == 0; })) return;
    }
    report();
    watch();
    look_after_snapshots();
  }
}

void Engine::report() {
  run_.collect(mail_);
  // After collecting the mail, so that the observer hears of the events of an update before the update.
  server_->report_events(observer_);
  for (LostWorker& lost : mail_.lost) {
    observer_.on_note(fmt::format("worker {} is lost after {} updates: {}", lost.worker, lost.update, lost.reason));
    history_.lost.push_back(std::move(lost));
  }
  for (const UpdateRecord& update : mail_.updates) ledger_.update(update);
  for (Mail::Copy& copy : mail_.copies) ledger_.evaluation(copy.messages, copy.time, std::move(copy.theta));
  mail_.clear();
  do {
    if (observer_.stop()) stop();
  } while (ledger_.report_next());
  ledger_.report_evaluations(false);
  if (!ledger_.trouble().empty()) server_->end(History::Status::diverged, ledger_.trouble());
  run_.evaluated = std::ssize(history_.evaluations);
}

void Engine::stop() {
  stopping_ = true;
  if (job_.snapshot_every == 0) server_->end(History::Status::stopped, "");
}

void Engine::plan_snapshot() {
  const int64_t every = std::max<int64_t>(job_.snapshot_every, 1);
  next_snapshot_ = (job_.gradients_of(run_.taken) / every + 1) * every;
}

// One step towards the next snapshot: pause the workers, or see whether all of them rest, or take it. The run stands
// still until the slowest worker has come to rest and the state is copied, and no longer.
void Engine::look_after_snapshots() {
  if (run_.over) return run_.go_on();  // workers may rest for a snapshot that is not taken any more
  if (job_.snapshot_every > 0 && (stopping_ || job_.gradients_of(run_.taken) >= next_snapshot_)) run_.pause();
  if (!run_.paused() || !server_->at_rest()) return;
  report();  // so that the observer knows everything that the snapshot contains
  if (run_.over) return run_.go_on();
  const int64_t gradients = job_.gradients_of(run_.taken);
  Snapshot snapshot;
  mark(snapshot, job_, kName, options_.shards);
  save(SnapshotWriter(snapshot));
  plan_snapshot();
  if (stopping_) server_->end(History::Status::stopped, "");
  run_.go_on();
  observer_.on_snapshot(snapshot, gradients);
}

void Engine::save(SnapshotWriter to) const {
  to.write_real("seconds", run_.seconds());
  to.write("copies", run_.copies);
  server_->save(to);
  for (const Seat& seat : run_.seats) seat.save(to.part(fmt::format("worker{}", seat.id)));
  ledger_.save(to.part("history"));
}

void Engine::load(const SnapshotReader& from) {
  const double seconds = from.read_real("seconds");
  from.require_here(seconds >= 0 && seconds < 1e9, "the run is {} s old", seconds);
  run_.set_seconds(seconds);
  for (Seat& seat : run_.seats) seat.load(from.part(fmt::format("worker{}", seat.id)));
  from.require_here(std::any_of(run_.seats.begin(), run_.seats.end(), [](const Seat& seat) { return seat.present; }),
                    "no worker is left");
  server_->load(from);
  ledger_.load(from.part("history"));
  from.require_here(ledger_.reported() == run_.taken, "{} updates are recorded, {} were taken in", ledger_.reported(),
                    run_.taken.load());
  run_.evaluated = std::ssize(history_.evaluations);
  run_.copies = from.read("copies", run_.evaluated, kMostCounted);
  plan_snapshot();
}

void Engine::watch() {
  const bool over = run_.over;
  const Watch::Seen seen = over ? watch_.look_after_end() : watch_.look();
  if (!seen.text.empty()) observer_.on_note(seen.text);
  if (!seen.too_long) return;
  if (over) {
    std::fprintf(stderr, "tardygrad: %s. A thread cannot be ended alone: the process ends\n", seen.text.c_str());
    std::_Exit(EXIT_FAILURE);
  }
  run_.fail("threads: " + seen.text);
  server_->end(History::Status::stopped, "");
}

History Engine::result() {
  history_.status = *run_.status();
  history_.message = run_.message();
  const double now = run_.seconds();
  if (history_.status == History::Status::finished) {
    ledger_.evaluation(job_.messages(), now, server_->last_copy());
    if (!ledger_.trouble().empty()) {
      history_.status = History::Status::diverged;
      history_.message = ledger_.trouble();
    }
  }
  server_->close(history_.status == History::Status::finished, now);
  server_->report_events(observer_);
  if (history_.status != History::Status::stopped) ledger_.report_evaluations(true);
  pool_.close();
  ledger_.report_evaluations(false);
  check_test_losses(history_);

  for (const Seat& seat : run_.seats) history_.gradient_seconds += seat.side->seconds();
  history_.update_seconds = server_->update_seconds();
  const Tensor theta = server_->last_copy();
  history_.theta.assign(theta.view().begin(), theta.view().end());
  history_.seconds = run_.seconds();
  return std::move(history_);
}

}  // namespace

History run_threads(const Job& job, const ThreadsOptions& options, Observer& observer) {
  check(job, options);
  const StayOn stay(options.cores);
  return Engine(job, options, observer).run();
}

}  // namespace tg
