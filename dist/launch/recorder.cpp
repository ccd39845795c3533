#include "dist/launch/recorder.h"

#include "framework/io/csv.h"

namespace tg {

Recorder::Recorder(const RunFolder& folder, uint64_t job_hash, int shards, Progress& progress,
                   const Interrupt& interrupt)
    : Listener(progress, interrupt), metrics_(folder.file("metrics.csv")) {
  for (int shard = 0; shard < shards; ++shard)
    logs_.push_back(
        std::make_unique<EventLogWriter>(folder.file(event_log_name(shard, shards)),
                                         EventLogHeader{.job_hash = job_hash, .shard = shard, .shards = shards}));
  metrics_.append("gradients,epoch,time,train_loss,test_loss,test_error_percent\n");
}

void Recorder::on_evaluation(const EvaluationRecord& e) {
  metrics_.append(csv_line({std::to_string(e.gradients), csv_number(e.epoch), csv_number(e.time),
                            csv_number(e.train_loss), csv_number(e.test_loss), csv_number(e.test_error_percent)}));
  Listener::on_evaluation(e);
}

void Recorder::finish() {
  for (const auto& log : logs_) log->flush();
  metrics_.sync();
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
    text += csv_line({std::to_string(worker), std::to_string(of[worker].updates.size()), csv_number(s.mean_lag),
                      std::to_string(s.max_lag), csv_number(s.mean_gap), std::to_string(s.bytes_up),
                      std::to_string(s.bytes_down), lost[worker]});
  }
  return text;
}

}  // namespace tg
