#pragma once
// A recorded run once more, also with another rule on the same arrivals.

#include <nlohmann/json.hpp>
#include <string>

#include "dist/launch/recorded_run.h"
#include "dist/replay/replay.h"

namespace tg {

// The recorded run with another rule, which has its own momentum unless it says otherwise. The rate stays. Throws Error
// for a rule that there is not, or that cannot have as many workers.
Plan with_rule(const Plan& recorded, const std::string& rule);

// What replays the run with the rule of `plan`, which is its own or comes from with_rule(). All three must outlive it.
// Throws Error for a rule that needs rounds, if the messages came in none.
Job replay_job(const RecordedRun& recorded, const Plan& plan, const Task& task);

// The same updates must be made if `plan` is the run's own.
Replayed replay_recorded(const RecordedRun& recorded, const Plan& plan, const Job& job, int pool_threads,
                         Observer& observer);

// For the config.json of the replay.
nlohmann::ordered_json origin_of(const RecordedRun& recorded);

}  // namespace tg
