#include "dist/replay/order.h"

namespace tg {

void check_order(const Place& place, const Shard& shard, const Event& event, bool last) {
  using Kind = Event::Kind;
  const WorkerId id = event.worker;
  const auto joined = [&] { require_at(place, shard.joined(id), "worker {} has not joined", id); };
  switch (event.kind) {
    case Kind::join: return require_at(place, !shard.joined(id), "worker {} has joined before", id);
    case Kind::leave: return joined();
    case Kind::assign:
      joined();
      require_at(place, !shard.at_work(id), "worker {} is at work already, on batch {}", id, shard.batch(id));
      return require_at(place, event.batch >= 0, "there is no batch {}", event.batch);
    case Kind::release: joined(); return require_at(place, !shard.at_work(id), "worker {} is at work", id);
    case Kind::arrive:
      joined();
      require_at(place, shard.at_work(id), "worker {} was sent no parameters from which to compute a message", id);
      return require_at(place, shard.batch(id) == event.batch && shard.told(id).learning_rate == event.learning_rate,
                        "worker {} has batch {} with rate {}, not {} with {}", id, shard.batch(id),
                        shard.told(id).learning_rate, event.batch, event.learning_rate);
    case Kind::evaluate: return;
    case Kind::finish:
    case Kind::stop: return require_at(place, last, "events follow the run's end");
  }
}

// The first shard's messages are sent for in the order of their batches, from 0 on; what is otherwise is found later.
void check_batches(const std::vector<EventLog>& logs, const Job& job) {
  std::vector<int64_t> first;  // batches of the first two
  for (const Event& event : logs.front().events)
    if (event.kind == Event::Kind::assign && first.size() < 2) first.push_back(event.batch);
  if (first.size() < 2 || first[0] != 0 || first[1] <= 0) return;
  require(first[1] == job.rule->batches(),
          "replay: the run's messages are of {} minibatches each, those of this rule of {}: it cannot be run on them",
          first[1], job.rule->batches());
}

std::vector<std::vector<int64_t>> arrivals_of(const std::vector<EventLog>& logs, int workers) {
  using Kind = Event::Kind;
  std::vector<std::vector<int64_t>> arrivals(static_cast<size_t>(workers));
  for (size_t s = 0; s < logs.size(); ++s) {
    std::vector<size_t> tasks(static_cast<size_t>(workers));  // sent so far
    const std::vector<Event>& events = logs[s].events;
    for (size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      if (event.kind == Kind::evaluate || event.kind == Kind::finish || event.kind == Kind::stop) continue;
      require_at({s, i, event.kind}, event.worker >= 0 && event.worker < workers,
                 "there is no worker {}; the run has {}", event.worker, workers);
      const size_t worker = static_cast<size_t>(event.worker);
      if (event.kind == Kind::assign && ++tasks[worker] > arrivals[worker].size()) arrivals[worker].push_back(kNever);
      if (event.kind != Kind::arrive || tasks[worker] == 0) continue;
      int64_t& arrival = arrivals[worker][tasks[worker] - 1];
      if (arrival == kNever) arrival = static_cast<int64_t>(i);
    }
  }
  return arrivals;
}

}  // namespace tg
