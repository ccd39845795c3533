#pragma once
// A recorded run once more, also with another rule on the same arrivals.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "dist/launch/recorded_run.h"
#include "dist/replay/replay.h"

namespace tg {

// What takes the place of what was recorded.
struct Instead {
  std::optional<std::string> rule{}, codec_up{}, codec_down{};
  bool anything() const { return rule || codec_up || codec_down; }
};

// The recorded run with another rule, which has its own momentum unless it says otherwise, or other codecs. The rate
// stays. Throws Error for a rule or codec that there is not, or that does not fit the run.
Plan with(const Plan& recorded, const Instead& instead);

// What replays the run with the rule of `plan`, which is its own or comes from with(). All three must outlive it.
// Throws Error for a rule that needs rounds, if the messages came in none.
Job replay_job(const RecordedRun& recorded, const Plan& plan, const Task& task);

// The same updates must be made if `plan` is the run's own.
Replayed replay_recorded(const RecordedRun& recorded, const Plan& plan, const Job& job, int pool_threads,
                         Observer& observer);

// For the config.json of the replay.
nlohmann::ordered_json origin_of(const RecordedRun& recorded);

}  // namespace tg
