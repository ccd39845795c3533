#pragma once
// The snapshots of a run: snapshots/NUMBER.safetensors in its folder, by the number of gradients taken in.

#include <filesystem>
#include <vector>

#include "dist/snapshot/snapshot.h"

namespace tg {

inline constexpr size_t kSnapshotsKept = 2;

struct SnapshotPlace {
  int64_t number;
  std::filesystem::path path;
};

// Newest first; whether they are whole is not looked at. Throws Error if the folder is there but cannot be read.
std::vector<SnapshotPlace> list_snapshots(const std::filesystem::path& run_folder);

class SnapshotKeeper {
 public:
  // `from`: the number of the one that the run goes on from; -1: it begins. Only one process may keep snapshots in a
  // folder.
  SnapshotKeeper(const std::filesystem::path& run_folder, int64_t from);

  // Writes it, then removes all others but the newest that this one wrote, or went on from, so that kSnapshotsKept are
  // left. Throws Error if it cannot be written: the others are then as they were.
  void keep(const Snapshot& snapshot, int64_t number);

 private:
  void remove_others();

  std::filesystem::path run_folder_;
  std::vector<int64_t> kept_;  // the last ones, all of them whole
};

}  // namespace tg
