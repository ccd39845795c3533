#pragma once
// Server: the interface through which the workers' threads, and the engine's own thread, use the parameters. There are
// two: ShardServer, with locks, for every rule; and HogwildServer, without, for asgd alone.

#include "dist/threads/run_state.h"

namespace tg {

class Server {
 public:
  virtual ~Server() = default;

  // Before the workers compute. In a new run, open(): all workers join and are sent their first parameters. In a run
  // that goes on from a snapshot, load() instead, after the seats have been loaded.
  virtual void open() = 0;
  virtual void load(const SnapshotReader& from) = 0;

  // For a snapshot, while the run is paused. at_rest(): no worker computes or is about to; each one rests, waits at the
  // gate, or is gone. Then save().
  virtual bool at_rest() const = 0;
  virtual void save(SnapshotWriter to) const = 0;

  // These three are called on a worker's own thread. begin() comes first and waits for the first parameters.
  // exchange() hands in the message of `from`, then waits for the next parameters. Both return true when the seat holds
  // what the worker computes from next, and false if the run is over.
  virtual bool begin(Seat& seat) = 0;
  virtual bool exchange(Seat& from) = 0;
  // The worker is lost; the reason goes to the mail (run_state.h).
  virtual void leave(Seat& seat, std::string reason) = 0;

  // Ends the run, unless it has ended already: no further message is taken, and workers that wait stop waiting.
  virtual void end(History::Status status, const std::string& message) = 0;
  // Tells `observer` the events since the last call.
  virtual void report_events(Observer& observer) = 0;

  // When all threads have ended: first last_copy(), the final theta; then close(), which adds the run's last events at
  // the time `now` (seconds).
  virtual Tensor last_copy() = 0;
  virtual void close(bool finished, double now) = 0;
  virtual double update_seconds() const = 0;  // of wall time in Update::apply and Update::reply
};

}  // namespace tg
