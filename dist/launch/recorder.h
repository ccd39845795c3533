#pragma once
// Recorder: writes metrics.csv, the event logs and the snapshots while a run is under way.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dist/engine.h"
#include "dist/history/event_log.h"
#include "dist/launch/interrupt.h"
#include "dist/launch/progress.h"
#include "dist/snapshot/folder.h"
#include "dist/snapshot/snapshot_file.h"
#include "framework/io/file.h"

namespace tg {

// Shows the progress of a run, and stops the run on Ctrl-C.
class Listener : public Observer {
 public:
  Listener(Progress& progress, const Interrupt& interrupt) : progress_(progress), interrupt_(interrupt) {}
  void on_update(const UpdateRecord& update) override { progress_.on_update(update); }
  void on_evaluation(const EvaluationRecord& evaluation) override { progress_.on_evaluation(evaluation); }
  void on_note(const std::string& note) override { progress_.on_note(note); }
  bool stop() override { return interrupt_.signal() != 0; }

 private:
  Progress& progress_;
  const Interrupt& interrupt_;
};

// What the files say about the run to which they belong.
struct RecordedJob {
  uint64_t hash = 0;  // job_hash()
  int shards = 1;     // each has an event log; 0 for hogwild, which records no events
  std::vector<std::pair<std::string, std::string>> options{};  // options_of_job(), for the snapshots' metadata
};

inline constexpr const char* kJobKey =
    "job";  // the hash's key in that metadata; it is written as 16 hexadecimal digits
inline constexpr const char* kGradientsKey = "gradients";  // how many were accepted, as the file's name says

class Recorder final : public Listener {
 public:
  // For a new run. Throws Error if one of the files exists.
  Recorder(const std::filesystem::path& folder, const RecordedJob& job, Progress& progress, const Interrupt& interrupt);
  // For a run that goes on from snapshot number `number`: cuts off what its files got after that snapshot. Throws
  // Error, and cuts off nothing, if check() throws or another process writes to the files.
  Recorder(const std::filesystem::path& folder, const RecordedJob& job, SnapshotFile& snapshot, int64_t number,
           Progress& progress, const Interrupt& interrupt);
  // Throws Error unless the files still have everything that they had when the snapshot was taken.
  static void check(const std::filesystem::path& folder, const RecordedJob& job, SnapshotFile& snapshot);

  void on_event(int shard, const Event& event) override { logs_[static_cast<std::size_t>(shard)]->append(event); }
  void on_evaluation(const EvaluationRecord& evaluation) override;
  // If the snapshot cannot be written, the user gets a note, and the run goes on.
  void on_snapshot(Snapshot& snapshot, int64_t gradients) override;
  // Returns when everything is on the disk.
  void finish();

 private:
  RecordedJob job_;
  std::optional<GrowingFile> metrics_;
  std::vector<std::unique_ptr<EventLogWriter>> logs_;
  SnapshotKeeper snapshots_;
};

// The content of workers.csv: lag, gap and bytes of each worker.
std::string workers_text(const History& history, int workers);

}  // namespace tg
