#pragma once
// Where a run that was stopped or killed goes on.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dist/launch/recorder.h"

namespace tg {

struct Resumption {
  std::unique_ptr<SnapshotFile> snapshot;
  int64_t gradients = 0;             // taken in when it was taken
  std::vector<std::string> skipped;  // newer ones that are damaged, and what is wrong with each
};

// The newest snapshot of the run in `folder` that is whole and whose files are all there. Throws Error if there is
// none, or if it is of another job, naming the option that differs.
Resumption find_resumption(const std::filesystem::path& folder, const RecordedJob& job);

}  // namespace tg
