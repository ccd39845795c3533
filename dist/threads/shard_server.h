#pragma once
// ShardServer: the server for any rule and any gate, with one lock for each shard.

#include <deque>
#include <span>

#include "dist/shard.h"
#include "dist/threads/server.h"

namespace tg {

class ShardServer : public Server {
 public:
  // Throws Error if the rule or the task cannot be cut into so many shards.
  ShardServer(RunState& run, int shards);

  void open() override;
  void load(const SnapshotReader& from) override;
  void save(SnapshotWriter to) const override;
  bool at_rest() const override;
  bool begin(Seat& seat) override;
  bool exchange(Seat& from) override;
  void leave(Seat& seat, std::string reason) override;
  void end(History::Status status, const std::string& message) override;
  void report_events(Observer& observer) override;
  Tensor last_copy() override;
  void close(bool finished, double now) override;
  double update_seconds() const override;

 private:
  struct Locked {
    explicit Locked(Shard made) : shard(std::move(made)) {}
    std::mutex mutex;
    Shard shard;
    std::vector<Event> events;  // that the observer has not been told yet
    void record(Event event, double time) {
      event.time = time;
      events.push_back(event);
    }
  };
  struct Visit;

  bool wait_for_release(Seat& seat, std::unique_lock<std::mutex>& gate_lock);
  bool visit(Visit& visit);
  void hand_in(Visit& visit, Locked& at, double now);
  void decide(Visit& visit, const Shard& first, double now);
  void send(Locked& at, Seat& to, double now);
  void copy(Visit& visit, Locked& at, double now);
  void post(const Visit& visit);
  void wake(std::span<const WorkerId> released);
  Seat& seat(WorkerId id);
  // The first batch of the message that is sent for next. Under the first shard's lock.
  int64_t next_batch() { return assigned_++ * job_.rule->batches(); }

  RunState& run_;
  const Job& job_;
  std::deque<Locked> shards_;
  // Protects the gate and every seat's `ready`. To avoid deadlock: taken before the lock of any shard, never after.
  mutable std::mutex gate_mutex_;
  std::unique_ptr<Gate> gate_;  // null where nobody ever waits

  // Protected by the first shard's lock.
  int64_t assigned_ = 0;     // messages that were sent for
  int64_t evaluations_ = 0;  // begun
  int64_t next_evaluation_;  // due when so many gradients are accepted

  std::vector<Event> telling_;  // a member only to use its memory again
};

}  // namespace tg
