#pragma once
// What the order of a log's events must be, whatever the rule.

#include <string>
#include <vector>

#include "dist/history/event_log.h"
#include "dist/shard.h"

namespace tg {

// An event of a log and where it stands, for errors.
struct Place {
  size_t shard;
  size_t event;  // number in the log
  Event::Kind kind;
};

// Throws Error, which begins with the place, unless `condition` holds.
template <class... Args>
void require_at(const Place& place, bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition)
    fail("shard {}, event {} ({}): {}", place.shard, place.event, name_of(place.kind),
         fmt::format(format, std::forward<Args>(args)...));
}

// Throws Error unless `event` can be the next at this shard.
void check_order(const Place& place, const Shard& shard, const Event& event, bool last);

inline constexpr int64_t kNever = -1;

// By worker and task: the place in some log where the message arrives, or kNever. Throws Error for a worker that is not
// one of so many.
std::vector<std::vector<int64_t>> arrivals_of(const std::vector<EventLog>& logs, int workers);

}  // namespace tg
