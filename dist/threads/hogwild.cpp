#include "dist/threads/hogwild.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dist/history/measure.h"
#include "dist/snapshot/snapshot.h"
#include "dist/snapshot/snapshot_file.h"
#include "dist/threads/threads.h"
#include "optim/asgd.h"

namespace tg {
namespace {

float read(float& shared) { return std::atomic_ref(shared).load(std::memory_order_relaxed); }
void write(float& shared, float value) { std::atomic_ref(shared).store(value, std::memory_order_relaxed); }

}  // namespace

HogwildServer::HogwildServer(RunState& run)
    : run_(run),
      job_(run.job),
      gap_(run.job, {.first = 0, .layout = run.job.task->layout()}),
      theta_(initial_parameters(run.job)),
      shared_(theta_.span()) {
  const auto* asgd = dynamic_cast<const Asgd*>(job_.rule);
  require(asgd != nullptr, "threads: hogwild is asgd without locks: it has no meaning for another rule");
  require(!make_gate(job_)->waits(), "threads: with hogwild nobody waits: leave out the gate");
  weight_decay_ = asgd->options().weight_decay;
}

void HogwildServer::open() {
  for (Seat& seat : run_.seats) {
    ++live_;
    send(seat);
  }
}

void HogwildServer::save(SnapshotWriter to) const {
  to.write("theta", theta_.view());
  to.write("taken", begun_);
  to.write("assigned", assigned_);
  to.write_real("update_seconds", seconds_);
}

void HogwildServer::load(const SnapshotReader& from) {
  from.read("theta", theta_.span());
  begun_ = from.read("taken", 0, job_.gradients - 1);
  run_.taken = begun_.load();
  assigned_ = from.read("assigned", 0, kMostCounted);
  seconds_ = from.read_real("update_seconds");
  for (const Seat& seat : run_.seats) {
    from.require_here(seat.ready == seat.present, "worker {} waits, which it cannot without a gate", seat.id);
    live_ += seat.present;
  }
}

bool HogwildServer::at_rest() const {
  return std::all_of(run_.seats.begin(), run_.seats.end(), [](const Seat& seat) {
    const Seat::State state = seat.state;
    return state == Seat::State::resting || state == Seat::State::gone;
  });
}

bool HogwildServer::exchange(Seat& from) {
  const double loss = from.side->outcome().loss;
  if (!std::isfinite(loss)) {
    end(History::Status::diverged, fmt::format("at update {}: {}", begun_.load(), from.side->trouble(from.batch)));
    return false;
  }
  if (run_.over) return false;
  const int64_t update = begun_++;
  if (update >= job_.gradients) return false;  // others were faster
  const int64_t task = from.tasks - 1;
  UpdateRecord record{.update = update,
                      .worker = from.id,
                      .batch = from.batch,
                      .lag = update - from.info.accepted,
                      .gap = std::numeric_limits<double>::quiet_NaN(),
                      .loss = loss,
                      .learning_rate = from.info.learning_rate,
                      .time = run_.seconds(),
                      .bytes_up = from.side->outcome().bytes,
                      .bytes_down = from.bytes_down};
  if ((task + from.id) % kGapShare == 0)
    record.gap = root_mean_square(gap_.squares(from.id, copy().view(), from.side->sent()), gap_coordinates(job_));

  const PlainStep step{from.info.learning_rate, weight_decay_};
  const View gradient = from.side->message();
  for (int64_t i = 0; i < shared_.size; ++i) {
    float w = read(shared_[i]);
    step(w, gradient[i]);
    write(shared_[i], w);  // whatever another thread has written since is lost
  }
  ++run_.taken;

  const int64_t done = update + 1;
  const bool due = job_.evaluate_every > 0 && done % job_.evaluate_every == 0;
  if (done == job_.gradients) {
    end(History::Status::finished, "");
    run_.send(record);
  } else if (due && run_.may_copy()) {
    ++run_.copies;
    run_.send(record, {done, run_.seconds(), copy()});
  } else {
    run_.send(record);
  }
  send(from);
  seconds_ += run_.seconds() - record.time;
  return !run_.over;
}

void HogwildServer::leave(Seat& seat, std::string reason) {
  --live_;
  run_.send(LostWorker{seat.id, run_.taken, std::move(reason)});
}

void HogwildServer::end(History::Status status, const std::string& message) {
  if (!run_.over.exchange(true)) run_.end(status, message);
}

void HogwildServer::send(Seat& to) {
  const int64_t accepted = run_.taken;
  to.info = {.learning_rate = job_.schedule.rate(accepted),
             .peak_learning_rate = job_.schedule.peak(),
             .accepted = accepted,
             .workers = live_,
             .sent = {}};
  to.batch = assigned_++;
  const Span reply = to.side->reply();
  for (int64_t i = 0; i < shared_.size; ++i) reply[i] = read(shared_[i]);
}

Tensor HogwildServer::copy() {
  Tensor copy = Tensor::empty({shared_.size});
  const Span out = copy.span();
  for (int64_t i = 0; i < shared_.size; ++i) out[i] = read(shared_[i]);
  return copy;
}

}  // namespace tg
