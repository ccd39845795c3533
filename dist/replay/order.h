#pragma once
// Checks that the events of a log can follow each other, whatever the rule: a log may be damaged, or forged.

#include <string>
#include <vector>

#include "dist/history/event_log.h"
#include "dist/shard.h"

namespace tg {

// Where an event stands in the logs, for error messages.
struct Place {
  size_t shard;
  size_t event;  // number in the log
  Event::Kind kind;
};

// Throws Error, whose message starts with the place, unless `condition` holds.
template <class... Args>
void require_at(const Place& place, bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition)
    fail("shard {}, event {} ({}): {}", place.shard, place.event, name_of(place.kind),
         fmt::format(format, std::forward<Args>(args)...));
}

// Throws Error unless `event` can be what happens next at this shard. `last`: it is the last event of the log.
void check_order(const Place& place, const Shard& shard, const Event& event, bool last);

// Throws Error if the run that wrote the logs had another number of minibatches to a message than job.rule has.
void check_batches(const std::vector<EventLog>& logs, const Job& job);

inline constexpr int64_t kNever = -1;

// arrivals[worker][task]: the position of the event, in one of the logs, with which this task's message arrives; kNever
// if it does not. The replay computes gradients in this order. Throws Error for an event of a worker that is not from 0
// to workers - 1.
std::vector<std::vector<int64_t>> arrivals_of(const std::vector<EventLog>& logs, int workers);

}  // namespace tg
