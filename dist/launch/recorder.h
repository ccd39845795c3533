#pragma once
// What a run's folder gets while the run lives, and at its end.

#include <memory>
#include <string>
#include <vector>

#include "dist/engine.h"
#include "dist/history/event_log.h"
#include "dist/launch/interrupt.h"
#include "dist/launch/progress.h"
#include "framework/io/file.h"
#include "framework/io/run_folder.h"

namespace tg {

// Shows progress, and ends the run on Ctrl-C.
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

// Writes metrics.csv, and an event log for each of `shards` shards, which may be none.
class Recorder final : public Listener {
 public:
  // Throws Error if one of the files is there.
  Recorder(const RunFolder& folder, uint64_t job_hash, int shards, Progress& progress, const Interrupt& interrupt);
  void on_event(int shard, const Event& event) override { logs_[static_cast<std::size_t>(shard)]->append(event); }
  void on_evaluation(const EvaluationRecord& evaluation) override;
  // Everything is on the disk.
  void finish();

 private:
  GrowingFile metrics_;
  std::vector<std::unique_ptr<EventLogWriter>> logs_;
};

// workers.csv: lag, gap and bytes of each worker.
std::string workers_text(const History& history, int workers);

}  // namespace tg
