#include "dist/launch/recorder.h"

#include <system_error>

#include "framework/io/csv.h"

namespace tg {
namespace fs = std::filesystem;

namespace {

constexpr const char* kFilesPart = "files";  // of a snapshot

// How long each of a run's files was when a snapshot was taken.
struct Positions {
  int64_t metrics = 0;                           // bytes
  std::vector<EventLogWriter::Position> logs{};  // by shard

  void save(SnapshotWriter to) const {
    to.write("metrics", metrics);
    for (std::size_t shard = 0; shard < logs.size(); ++shard) {
      SnapshotWriter log = to.part(fmt::format("events{}", shard));
      log.write("bytes", logs[shard].bytes);
      log.write("events", logs[shard].events);
      log.write_text("records", logs[shard].records);
    }
  }
  static Positions load(const SnapshotReader& from, int shards) {
    Positions positions{.metrics = from.read("metrics", 0, kMostCounted)};
    for (int shard = 0; shard < shards; ++shard) {
      const SnapshotReader log = from.part(fmt::format("events{}", shard));
      positions.logs.push_back(
          {log.read("bytes", 0, kMostCounted), log.read("events", 0, kMostCounted), log.read_text("records")});
    }
    return positions;
  }
};

fs::path metrics_path(const fs::path& folder) { return folder / "metrics.csv"; }

fs::path log_path(const fs::path& folder, const RecordedJob& job, int shard) {
  return folder / event_log_name(shard, job.shards);
}

EventLogHeader header_of(const RecordedJob& job, int shard) {
  return {.job_hash = job.hash, .shard = shard, .shards = job.shards};
}

}  // namespace

Recorder::Recorder(const fs::path& folder, const RecordedJob& job, Progress& progress, const Interrupt& interrupt)
    : Listener(progress, interrupt), job_(job), snapshots_(folder, -1) {
  metrics_.emplace(metrics_path(folder));
  for (int shard = 0; shard < job.shards; ++shard)
    logs_.push_back(std::make_unique<EventLogWriter>(log_path(folder, job, shard), header_of(job, shard)));
  metrics_->append("gradients,epoch,time,train_loss,test_loss,test_error_percent\n");
}

Recorder::Recorder(const fs::path& folder, const RecordedJob& job, SnapshotFile& snapshot, int64_t number,
                   Progress& progress, const Interrupt& interrupt)
    : Listener(progress, interrupt), job_(job), snapshots_(folder, number) {
  check(folder, job, snapshot);
  const Positions from = Positions::load(snapshot.part(kFilesPart), job.shards);
  metrics_.emplace(metrics_path(folder), from.metrics);
  for (int shard = 0; shard < job.shards; ++shard)
    logs_.push_back(std::make_unique<EventLogWriter>(log_path(folder, job, shard), header_of(job, shard),
                                                     from.logs[static_cast<std::size_t>(shard)]));
}

void Recorder::check(const fs::path& folder, const RecordedJob& job, SnapshotFile& snapshot) {
  const Positions at = Positions::load(snapshot.part(kFilesPart), job.shards);
  for (int shard = 0; shard < job.shards; ++shard)
    EventLogWriter::check(log_path(folder, job, shard), header_of(job, shard),
                          at.logs[static_cast<std::size_t>(shard)]);
  const fs::path metrics = metrics_path(folder);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(metrics, error);
  require(!error, "{}: {}", metrics.string(), error.message());
  require(bytes >= static_cast<std::uintmax_t>(at.metrics), "{}: it has {} bytes; it had {} before: it was cut",
          metrics.string(), bytes, at.metrics);
}

void Recorder::on_evaluation(const EvaluationRecord& e) {
  metrics_->append(csv_line({std::to_string(e.gradients), csv_number(e.epoch), csv_number(e.time),
                             csv_number(e.train_loss), csv_number(e.test_loss), csv_number(e.test_error_percent)}));
  Listener::on_evaluation(e);
}

void Recorder::on_snapshot(Snapshot& snapshot, int64_t gradients) {
  try {
    // A snapshot relies on these files, so they must be on the disk first.
    metrics_->sync();
    Positions at{.metrics = metrics_->bytes()};
    for (const auto& log : logs_) at.logs.push_back(log->sync());
    at.save(SnapshotWriter(snapshot).part(kFilesPart));
    snapshot.metadata[kGradientsKey] = std::to_string(gradients);
    snapshot.metadata[kJobKey] = fmt::format("{:016x}", job_.hash);
    for (const auto& [name, value] : job_.options) snapshot.metadata[name] = value;
    snapshots_.keep(snapshot, gradients);
  } catch (const Error& error) {
    on_note(fmt::format("no snapshot after {} gradients; the one before stays in use: {}", gradients, error.what()));
  }
}

void Recorder::finish() {
  for (const auto& log : logs_) log->flush();
  metrics_->sync();
}

std::string workers_text(const History& history, int workers) {
  std::string text = "worker,gradients,mean_lag,max_lag,mean_gap,bytes_up,bytes_down,lost\n";
  std::vector<History> of(static_cast<std::size_t>(workers));
  for (const UpdateRecord& update : history.updates)
    of[static_cast<std::size_t>(update.worker)].updates.push_back(update);
  std::vector<std::string> lost(of.size());
  for (const LostWorker& worker : history.lost) lost[static_cast<std::size_t>(worker.worker)] = worker.reason;
  for (std::size_t worker = 0; worker < of.size(); ++worker) {
    const Summary s = summarise(of[worker]);
    text += csv_line({std::to_string(worker), std::to_string(s.gradients), csv_number(s.mean_lag),
                      std::to_string(s.max_lag), csv_number(s.mean_gap), std::to_string(s.bytes_up),
                      std::to_string(s.bytes_down), lost[worker]});
  }
  return text;
}

}  // namespace tg
