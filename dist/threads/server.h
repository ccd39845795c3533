#pragma once
// Server: what the workers' threads, and the thread that keeps the books, see of the parameters.

#include "dist/threads/run_state.h"

namespace tg {

class Server {
 public:
  virtual ~Server() = default;

  // All workers join and are sent their first parameters. Before their threads begin.
  virtual void open() = 0;
  // The same where the run goes on: everything is as it was. The seats are loaded first.
  virtual void load(const SnapshotReader& from) = 0;
  virtual void save(SnapshotWriter to) const = 0;
  // No worker computes, or is about to: each rests, waits or is gone. To be asked while the run is paused.
  virtual bool at_rest() const = 0;

  // On a worker's thread, first. As exchange(), without a message.
  virtual bool begin(Seat& seat) = 0;
  // On a worker's thread. Hands in its message; returns true when its seat holds what it works from next, false if the
  // run is over.
  virtual bool exchange(Seat& from) = 0;
  // On a worker's thread: it is lost, for that reason, which goes to the mail.
  virtual void leave(Seat& seat, std::string reason) = 0;

  // Ends the run, unless it has ended: no message is taken any more, and who waits goes on.
  virtual void end(History::Status status, const std::string& message) = 0;
  // Tells the events since the last call.
  virtual void report_events(Observer& observer) = 0;

  // When all threads have ended: theta as it is, for the last evaluation; then, the run's last events.
  virtual Tensor last_copy() = 0;
  virtual void close(bool finished, double now) = 0;
  virtual double update_seconds() const = 0;
};

}  // namespace tg
