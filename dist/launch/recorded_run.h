#pragma once
// RecordedRun: what can be read from the folder of an earlier run: its plan and its events.

#include <filesystem>
#include <map>
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

// Values as they are typed, by the name of their RunOption.
using OptionTexts = std::map<std::string, std::string>;

// The plan in the folder's config.json, with the values of `instead` in place of its own. Throws Error, naming the
// file, if it is missing or damaged.
Plan read_plan(const std::filesystem::path& folder, const OptionTexts& instead);

// If `data_dir` is not empty, it replaces the run's own. Throws Error, naming the file, if `folder` is not the folder
// of a run, its files are damaged, or the run recorded no events (hogwild).
RecordedRun read_run(const std::filesystem::path& folder, const std::string& data_dir);

// The parts of the machine that were others when the run was made, which may explain other bits: a line for each, after
// a first one; empty if there are none.
std::string changes_since(const std::filesystem::path& run);

// Throws Error unless the logs were written by a run with this plan and a task with this layout.
void check_logs(const RecordedRun& run, const Layout& layout);

}  // namespace tg
