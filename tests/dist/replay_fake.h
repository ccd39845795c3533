#pragma once
// What tests of replays share.

#include <utility>
#include <vector>

#include "dist/replay/replay.h"
#include "tests/dist/threads_fake.h"
#include "tests/errors.h"

namespace tg::fake {

struct Recorded {
  History history;
  std::vector<EventLog> logs;
};

inline std::vector<EventLog> logs_of(const Recorder& heard) {
  std::vector<EventLog> logs;
  for (const auto& events : heard.shards)
    logs.push_back(
        {.header = {.shard = static_cast<int32_t>(logs.size()), .shards = static_cast<int32_t>(heard.shards.size())},
         .events = events});
  return logs;
}

inline Recorded record(const Job& job, const ThreadsOptions& options, int64_t stop_after = -1) {
  Recorder heard;
  heard.stop_after = stop_after;
  History history = run_threads(job, options, heard);
  return {std::move(history), logs_of(heard)};
}

inline Replayed again(const Job& job, const std::vector<EventLog>& logs,
                      const ReplayOptions& options = {.pool_threads = 2}) {
  Observer nobody;
  return replay(job, logs, options, nobody);
}

// Small rates: a thread that the system holds up may be hundreds of updates late.
inline Job make_job(const Task& task, const Rule& rule, int workers, int64_t gradients) {
  Job made = job(task, rule, workers, gradients);
  made.schedule = Schedule({.peak = 0.002, .warmup = gradients / 4, .drops = {gradients / 2}});
  made.evaluate_every = gradients / 5;
  made.seed = 4;
  return made;
}

}  // namespace tg::fake
