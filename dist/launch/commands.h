#pragma once
// The subcommands of `tardygrad`. Each returns the process's exit status and throws Error for the user's mistakes.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dist/launch/run_options.h"
#include "optim/state.h"  // WorkerId

namespace tg {

inline constexpr int kExitError = 1;
inline constexpr int kExitDiverged = 2;

// `out` may be empty: a new folder below runs/. `command_line` goes to config.json.
int train(const RunOptions& options, const std::filesystem::path& out, const std::vector<std::string>& command_line);

// Goes on with the run in that folder, from its newest snapshot that is whole.
int resume(const std::filesystem::path& folder);

// `values` as make_plans() takes them. Runs that diverge do not end the others and do not change the exit status.
int compare(const std::vector<std::vector<std::string>>& values, const std::filesystem::path& out,
            const std::vector<std::string>& command_line);

struct PairedOptions {
  std::vector<std::string> runs;   // folders of recorded runs, which differ in their seeds
  std::vector<std::string> rules;  // other rules; a word may be a list with commas
  std::filesystem::path out;
  std::string data_dir;  // empty: the runs'
  int pool_threads = 0;
};
// Each rule on the arrivals of each recorded run, beside the recorded rule. kExitError if a recorded run cannot be
// repeated bit for bit. Runs that diverge: as in compare().
int compare_paired(const PairedOptions& options, const std::vector<std::string>& command_line);

// As they were typed; empty: the default.
struct ReplayRunOptions {
  std::string run;           // its folder
  std::string rule;          // another rule on the same arrivals; empty: the run's own, which must give the same bits
  std::string out;           // a folder for the results; empty: none
  std::string data_dir;      // empty: the run's
  std::string pool_threads;  // as for train
};
// kExitError if an update differs from the recorded one; kExitDiverged if another rule diverges.
int replay_run(const ReplayRunOptions& options, const std::vector<std::string>& command_line);

struct ExplainOptions {
  std::filesystem::path run;
  std::string data_dir;  // empty: where the run found its data
  int64_t update = 0;
  std::optional<WorkerId> worker{};  // given: `update` counts this worker's
  std::string parameter{};           // empty: all
  bool json = false;
};
// The terms of one update of a recorded run.
int explain(const ExplainOptions& options);

struct TraceOptions {
  std::filesystem::path run;
  std::string data_dir;
  int64_t first = 0, last = 399;  // updates
};
// Writes trace.html and trace.svg into the run's folder.
int trace(const TraceOptions& options);

int info(const std::string& data_dir, bool json);

// As they were typed; empty: the default.
struct ModelInfoOptions {
  std::string model, input, classes, batch;
};
// Layers, arithmetic and memory of a model, without computing it.
int model_info(const ModelInfoOptions& options, bool json);

struct BenchStepOptions {
  std::string model = "lenet";
  int64_t batch = 0;  // 0: 128 pictures or 32 sequences, as in tests/bench
  int threads = 1;
  double seconds = 3;  // of measuring
  std::string device = "cpu";
  bool trim = false;  // memory goes back to the system after each step: what the pool is for
  bool json = false;
};
int bench_step(const BenchStepOptions& options);

struct BenchServerOptions {
  std::string rule;  // empty: all
  int64_t parameters = 25'000'000;
  int threads = 1;
  double seconds = 1;  // of measuring, for each rule
  bool json = false;
};
int bench_server(const BenchServerOptions& options);

}  // namespace tg
