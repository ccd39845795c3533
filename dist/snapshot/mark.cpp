#include "dist/snapshot/mark.h"

namespace tg {
namespace {

using Marks = std::vector<std::pair<std::string, std::string>>;

Marks marks_of(const Job& job, const char* engine, int shards) {
  return {{"engine", engine},
          {"layout", fmt::format("{:016x}", job.task->layout().hash())},
          {"workers", std::to_string(job.workers)},
          {"shards", std::to_string(shards)},
          {"seed", std::to_string(job.seed)}};
}

}  // namespace

void mark(Snapshot& snapshot, const Job& job, const char* engine, int shards) {
  for (const auto& [key, value] : marks_of(job, engine, shards)) snapshot.metadata[key] = value;
}

SnapshotReader reader_of(const Job& job, const char* engine, int shards) {
  for (const auto& [key, value] : marks_of(job, engine, shards)) {
    const std::string found = job.resume->metadata(key);
    require(found == value, "{}: it is a snapshot of another run: its {} is {}, that of this run is {}",
            job.resume->name(), key, found, value);
  }
  return {*job.resume, ""};
}

}  // namespace tg
