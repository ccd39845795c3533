#include "dist/launch/resume.h"

#include "dist/snapshot/folder.h"

namespace tg {
namespace {

void require_same_job(const SnapshotFile& snapshot, const RecordedJob& job) {
  for (const auto& [name, value] : job.options) {
    const std::string found = snapshot.metadata(name);
    require(found == value, "{}: it is a snapshot of another run: its {} is '{}', that of config.json is '{}'",
            snapshot.name(), name, found, value);
  }
  require(snapshot.metadata(kJobKey) == fmt::format("{:016x}", job.hash),
          "{}: it is a snapshot of another run: its options are those of config.json, but its model or data is not",
          snapshot.name());
}

}  // namespace

Resumption find_resumption(const std::filesystem::path& folder, const RecordedJob& job) {
  const std::vector<SnapshotPlace> places = list_snapshots(folder);
  require(!places.empty(), "{}: there is no snapshot to go on from; a run takes them with --snapshot-every",
          folder.string());
  Resumption found;
  for (const SnapshotPlace& place : places) {
    try {
      found.snapshot = std::make_unique<SnapshotFile>(place.path);
    } catch (const Error& error) {
      found.skipped.push_back(error.what());
      continue;
    }
    require_same_job(*found.snapshot, job);
    try {
      const std::string taken = found.snapshot->metadata(kGradientsKey);
      require(taken == std::to_string(place.number), "it was renamed: it was taken after {} gradients", taken);
      Recorder::check(folder, job, *found.snapshot);
      found.gradients = place.number;
      return found;
    } catch (const Error& error) {
      found.skipped.push_back(fmt::format("{}: {}", place.path.string(), error.what()));
    }
  }
  std::string reasons;
  for (const std::string& reason : found.skipped) reasons += "\n  " + reason;
  fail("{}: none of its snapshots can be used:{}", folder.string(), reasons);
}

}  // namespace tg
