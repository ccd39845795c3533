#pragma once
// A run's folder, read again: what ran, and what happened then.

#include <filesystem>
#include <string>
#include <vector>

#include "dist/history/event_log.h"
#include "dist/launch/plan.h"

namespace tg {

struct RecordedRun {
  std::filesystem::path folder;
  Plan plan;                   // from config.json
  std::vector<EventLog> logs;  // by shard
};

// What config.json says. Throws Error, naming the file, if it is not there or damaged.
Plan read_plan(const std::filesystem::path& folder);

// `data_dir`, where it is not empty, takes the place of the run's own. Throws Error, naming the file, if `folder` is
// not a run's or its files are damaged.
RecordedRun read_run(const std::filesystem::path& folder, const std::string& data_dir);

// Throws Error unless the logs were written by a run as the plan says, of a task with this layout.
void check_logs(const RecordedRun& run, const Layout& layout);

}  // namespace tg
