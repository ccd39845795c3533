#pragma once
// ShardServer: the server of any rule under its gate, a lock per shard.

#include <deque>
#include <span>

#include "dist/shard.h"
#include "dist/threads/server.h"

namespace tg {

class ShardServer : public Server {
 public:
  // Throws Error if the rule cannot be sharded so.
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
    std::vector<Event> events;  // not told yet
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

  RunState& run_;
  const Job& job_;
  std::deque<Locked> shards_;
  mutable std::mutex gate_mutex_;  // of the gate and `ready` of every seat; taken before any shard's
  std::unique_ptr<Gate> gate_;     // null where nobody waits

  // Under the first shard's lock.
  int64_t assigned_ = 0;  // batches
  int64_t evaluations_ = 0;
  int64_t next_evaluation_;  // due when so many gradients are accepted

  std::vector<Event> telling_;  // for its memory
};

}  // namespace tg
