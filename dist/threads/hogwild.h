#pragma once
// Hogwild: asgd without locks (Recht et al. 2011). All threads read and write the same parameters at once, element by
// element, so that a worker's parameters are a mixture of versions and a step may undo part of another.
//
// It is here as a control: what holds bit for bit on every other engine (one worker is sequential SGD, a replay gives
// the same parameters) does not hold here. No order of events is recorded, since there is none.

#include "dist/threads/server.h"

namespace tg {

class HogwildServer : public Server {
 public:
  // Throws Error unless the rule is asgd and nobody waits.
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
  float weight_decay_;
  Tensor theta_;
  Span shared_;                        // theta_, which many threads write to: by relaxed atomics alone
  std::atomic<int64_t> begun_ = 0;     // messages that a thread adds, or has added
  std::atomic<int64_t> assigned_ = 0;  // batches
  std::atomic<int> live_ = 0;          // workers
  std::atomic<double> seconds_ = 0;    // of adding and reading
};

}  // namespace tg
