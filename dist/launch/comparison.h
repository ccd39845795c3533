#pragma once
// What `compare` leaves in its folder.

#include <string>
#include <vector>

#include "dist/launch/run.h"

namespace tg {

// The folder's name for one of the runs, such as "007-dana-zero-16w-seed2": names sort in the order of the runs.
std::string folder_of_run(std::size_t number, const Plan& plan);

// Draws error.svg, loss.svg and gap.svg of all runs together. results[i] came from plans[i]; there may be more plans
// than results, if the user stopped. Returns what draw_run() returns.
std::string draw_all_runs(const RunFolder& folder, const std::vector<Plan>& plans,
                          const std::vector<RunResult>& results);

}  // namespace tg
