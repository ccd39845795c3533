#pragma once
// What `compare` leaves in its folder.

#include <string>
#include <vector>

#include "dist/launch/run.h"

namespace tg {

// Of one of the runs: "007-dana-zero-16w-seed2" sorts in the order of the runs.
std::string folder_of_run(std::size_t number, const Plan& plan);

// error.svg, loss.svg and gap.svg over all; results[i] came from plans[i], of which there may be more. Returns as
// draw_run() does.
std::string draw_all_runs(const RunFolder& folder, const std::vector<Plan>& plans,
                          const std::vector<RunResult>& results);

}  // namespace tg
