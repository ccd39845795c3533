#pragma once
// Hogwild: asgd without locks (Recht et al. 2011). All threads read and write the same parameters at the same time,
// element by element. What a worker reads is therefore a mixture of several versions, and a step may overwrite part of
// another one.
//
// It is here to show what the locks are for: without them a run cannot be replayed, and updates are lost. No events are
// recorded, since there is no order in which updates happen.

#include "dist/gap_meter.h"
#include "dist/threads/server.h"

namespace tg {

class HogwildServer : public Server {
 public:
  // Throws Error unless the rule is asgd, with a gate at which nobody waits.
  explicit HogwildServer(RunState& run);

  void open() override;
  void load(const SnapshotReader& from) override;
  void save(SnapshotWriter to) const override;
  bool at_rest() const override;
  bool begin(Seat&) override { return !run_.over; }
  bool exchange(Seat& from) override;
  void leave(Seat& seat, std::string reason) override;
  void end(History::Status status, const std::string& message) override;
  void report_events(Observer&) override {}
  Tensor last_copy() override { return theta_.copy(); }
  void close(bool, double) override {}
  double update_seconds() const override { return seconds_; }

 private:
  void send(Seat& to);
  Tensor copy();

  RunState& run_;
  const Job& job_;
  GapMeter gap_;  // whom nobody is ahead of: asgd has no look-ahead
  float weight_decay_;
  Tensor theta_;
  Span shared_;                        // theta_; many threads use it, so only through relaxed atomics
  std::atomic<int64_t> begun_ = 0;     // messages whose addition to theta has begun
  std::atomic<int64_t> assigned_ = 0;  // batches sent to workers
  std::atomic<int> live_ = 0;          // workers
  std::atomic<double> seconds_ = 0;    // of wall time spent adding to theta and reading it
};

}  // namespace tg
