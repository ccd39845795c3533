#pragma once
// Who waits for whom.

#include <map>
#include <set>

#include "optim/rule.h"

namespace tg {

// Nobody waits: each message is taken, and its worker goes on at once.
class Async : public Gate {
 public:
  Release join(WorkerId worker) override { return {worker}; }
  Verdict arrive(WorkerId worker, int64_t) override { return {.taken = true, .release = {worker}}; }
  Release leave(WorkerId) override { return {}; }
  bool waits() const override { return false; }
};

// Bulk-synchronous rounds: a worker waits until all live workers have arrived, then all are released, in the order of
// their ids.
//
// With `backup` b, a round closes once all but b have arrived (backup workers, Chen et al. 2016, "Revisiting
// Distributed Synchronous SGD"). A message from a round that has closed is not taken; its worker is released into the
// round that is open. A worker that joins works in the open round, and the round waits for it; one that leaves may
// close the round.
class Bsp : public Gate {
 public:
  explicit Bsp(int backup = 0) : backup_(backup) {}
  Release join(WorkerId worker) override;
  Verdict arrive(WorkerId worker, int64_t clock) override;
  Release leave(WorkerId worker) override;
  bool in_rounds() const override { return true; }
  void check(int workers) const override;
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  Release close_if_complete();

  int backup_;                              // at least one arrival is waited for, however few are left alive
  int64_t round_ = 0;                       // the open round
  std::map<WorkerId, int64_t> working_in_;  // live workers, and the round whose parameters each was sent last
  std::set<WorkerId> waiting_;              // those that have arrived in the open round
};

// Stale synchronous parallel (Ho et al. 2013): every message is taken, but a worker that is more than `bound` messages
// ahead of the slowest live one waits for it. bound 0 keeps all in step; a bound that is never reached is Async.
//
// A worker that joins starts level with the slowest. Those that may go on are released in the order of their ids.
class Ssp : public Gate {
 public:
  explicit Ssp(int64_t bound) : bound_(bound) {}
  Release join(WorkerId worker) override;
  Verdict arrive(WorkerId worker, int64_t clock) override;
  Release leave(WorkerId worker) override;
  void save(StateWriter& state) const override;
  void load(const StateReader& state) override;

 private:
  int64_t slowest() const;
  Release release_near();

  int64_t bound_;
  std::map<WorkerId, int64_t> clocks_;  // live workers, and the messages of each, counted from where it joined
  std::set<WorkerId> waiting_;
};

}  // namespace tg
