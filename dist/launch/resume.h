#pragma once
// Resumption: from which snapshot a run that was stopped or killed goes on.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dist/launch/recorder.h"

namespace tg {

struct Resumption {
  std::unique_ptr<SnapshotFile> snapshot;
  int64_t gradients = 0;             // that the run had taken in at this snapshot
  std::vector<std::string> skipped;  // for each newer snapshot that cannot be used: what is wrong with it
};

// The newest snapshot of the run in `folder` that is undamaged and whose event logs and metrics.csv reach far enough.
// Throws Error if there is none, or if it belongs to another job; then it names the option that differs.
Resumption find_resumption(const std::filesystem::path& folder, const RecordedJob& job);

}  // namespace tg
