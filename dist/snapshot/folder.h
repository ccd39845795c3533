#pragma once
// The snapshot files of a run: snapshots/N.safetensors in its folder, where N is the number of gradients taken in.

#include <filesystem>
#include <vector>

#include "dist/snapshot/snapshot.h"

namespace tg {

inline constexpr size_t kSnapshotsKept = 2;

struct SnapshotPlace {
  int64_t number;  // of gradients taken in
  std::filesystem::path path;
};

// All snapshots of a run, the newest first, undamaged or not. Throws Error if the folder exists but cannot be read.
std::vector<SnapshotPlace> list_snapshots(const std::filesystem::path& run_folder);

// Writes snapshots and removes old ones.
class SnapshotKeeper {
 public:
  // `from`: number of the snapshot from which the run goes on; -1 for a new run. Only one process at a time may do this
  // in a folder.
  SnapshotKeeper(const std::filesystem::path& run_folder, int64_t from);

  // Writes the snapshot to its file. Then removes older files, so that the last kSnapshotsKept that this object has
  // written, or started from, are left. Throws Error if the snapshot cannot be written, and removes nothing then.
  void keep(const Snapshot& snapshot, int64_t number);

 private:
  void remove_others();

  std::filesystem::path run_folder_;
  std::vector<int64_t> kept_;  // numbers of the snapshots to keep, in the order of writing
};

}  // namespace tg
