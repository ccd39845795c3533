#pragma once
// The subcommands of `tardygrad`. Each prints to standard output, returns the process's exit status, and throws Error
// for a mistake of the user's.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dist/launch/run_options.h"
#include "optim/state.h"  // WorkerId

namespace tg {

inline constexpr int kExitError = 1;
inline constexpr int kExitDiverged = 2;

// One run, whose results go to `out`, a new or empty folder; if `out` is empty, to a new folder below runs/.
// `command_line` is what was typed, for config.json.
int train(const RunOptions& options, const std::filesystem::path& out, const std::vector<std::string>& command_line);

// Goes on with the run in this folder, from its newest undamaged snapshot. `instead`, by the name of the option,
// replaces what the run was given: only what changes no result.
int resume(const std::filesystem::path& folder, const std::map<std::string, std::string>& instead);

// A run for every combination of `values` (see make_plans()), each in its own folder below `out`. A run that diverges
// does not end the others and does not change the exit status.
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

// The words of the command line; an empty word stands for the default.
struct ReplayRunOptions {
  std::string run;   // the run's folder
  std::string rule;  // another rule for the same arrivals; empty: the run's own rule, which must give the same bits
  std::string codec_up, codec_down;  // likewise, other codecs
  std::string out;                   // a folder for the replay's own results; empty: no results are written
  std::string data_dir;              // empty: where the run found its data
  std::string pool_threads;          // as for train
};
// Computes a recorded run again. Returns kExitError if an update differs from the recorded one, kExitDiverged if
// another rule diverges.
int replay_run(const ReplayRunOptions& options, const std::vector<std::string>& command_line);

struct ExplainOptions {
  std::filesystem::path run;
  std::string data_dir;  // empty: where the run found its data
  int64_t update = 0;
  std::optional<WorkerId> worker{};  // if given, `update` counts the updates of this worker only
  std::string parameter{};           // looks at this tensor alone; empty: at all
  bool json = false;
};
// Shows the terms of one update of a recorded run.
int explain(const ExplainOptions& options);

struct TraceOptions {
  std::filesystem::path run;
  std::string data_dir;           // empty: where the run found its data
  int64_t first = 0, last = 399;  // numbers of updates, both included
};
// Writes trace.html and trace.svg into the run's folder.
int trace(const TraceOptions& options);

// As they were typed, lists checked.
struct StabilityOptions {
  std::vector<std::string> rules;
  std::vector<int> workers;
  double epochs = 0;  // of training beside it; 0: none
  std::string data_dir, out;
};
// The growth of each rule on delayed quadratics, over rates and numbers of workers, as a picture and a table; beside it
// what became of real runs.
int stability(const StabilityOptions& options, const std::vector<std::string>& command_line);

struct ProbeTaylorOptions {
  RunOptions run;
  std::optional<int64_t> every;  // updates; empty: about 200 times along the run
  std::string out;
};
// Along a run: late gradients with and without their delay compensation, beside the true gradient.
int probe_taylor(const ProbeTaylorOptions& options, const std::vector<std::string>& command_line);

struct ProbeHessianOptions {
  RunOptions run;                // trained first
  std::vector<int64_t> batches;  // sizes of the batches whose gradients are squared
  int64_t samples = 1024;        // of the training set, that all figures are of
  int64_t coordinates = 300;     // of the parameters, drawn by the seed
  std::string out;
};
// The diagonal of the Hessian beside g (.) g, after a run.
int probe_hessian(const ProbeHessianOptions& options, const std::vector<std::string>& command_line);

// Shows versions, the machine, data sets (looked for in `data_dir`, if that is not empty), models, rules and codecs.
int info(const std::string& data_dir, bool json);

// The words of the command line; an empty word stands for the default.
struct ModelInfoOptions {
  std::string model, input, classes, batch;
};
// Shows the layers of a model, and the arithmetic and memory of a training step, without computing it.
int model_info(const ModelInfoOptions& options, bool json);

struct BenchStepOptions {
  std::string model = "lenet";
  int64_t batch = 0;  // 0: 128 pictures or 32 sequences, as in tests/bench
  int threads = 1;
  double seconds = 3;  // how long to measure, at least
  std::string device = "cpu";
  bool trim = false;  // gives memory back to the system after each step, which shows what the pool is good for
  bool json = false;
};
// Measures a training step of a model on made data.
int bench_step(const BenchStepOptions& options);

struct BenchServerOptions {
  std::string rule;  // empty: all
  int64_t parameters = 25'000'000;
  int threads = 1;
  double seconds = 1;  // how long to measure each rule, at least
  bool json = false;
};
// Measures what the server's side of each rule costs.
int bench_server(const BenchServerOptions& options);

struct BenchCodecOptions {
  std::string codec;  // empty: all, and QSGD with Elias codes
  int64_t parameters = 25'000'000;
  double seconds = 1;  // of measuring, for each codec
  bool json = false;
};
int bench_codec(const BenchCodecOptions& options);

}  // namespace tg
