#pragma once
// RunOptions: what the user may choose about a run. The command line of `train` and `compare`, their --help and
// config.json are all made from one list, so they cannot contradict each other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tg {

struct RunOptions {
  std::string recipe;  // that the others were taken from where nothing else was typed; empty: none
  std::string data = "fashion-mnist";
  std::string data_dir;  // empty: TARDYGRAD_DATA, then the system's folders
  std::string model = "mlp";
  std::string rule = "asgd";
  std::string gate = "own";  // "own": the rule's own gate
  std::string codec_up = "none", codec_down = "none";
  std::string engine = "simulate";
  int workers = 1;
  double epochs = 1;
  int64_t batch = 128;
  std::optional<double> learning_rate;  // empty: 0.05 (1 - momentum)
  std::optional<double> momentum;       // empty: the rule's default
  double warmup = 0;                    // epochs
  std::vector<double> drop_at;          // epochs
  double drop_factor = 0.1;
  double clip_norm = 0;  // 0: no clipping
  std::string clock = "homogeneous";
  std::optional<double> evaluate_every;  // epochs; empty: a quarter of the run, at most 1
  int64_t snapshot_every = 0;            // gradients; 0: no snapshots
  uint64_t seed = 1;
  int threads_per_worker = 1;
  int shards = 1;
  std::vector<int> cores;  // empty: any core
  bool exact_gap = false;
  bool hogwild = false;
  int pool_threads = 0;  // 0: cores / threads_per_worker, at most workers + 1
};

struct RunOption {
  std::string flag;    // "--lr"
  std::string name;    // "learning_rate", in files and tables
  std::string values;  // "RATE"; empty for a switch, which stands alone or before true or false
  bool is_number;
  std::string help;  // with the default
  // Throws Error that names the flag, what was expected and what was found.
  void (*set)(RunOptions& options, const std::string& text);
  // The value as it would be typed. Empty if nothing was given and the default depends on other options.
  std::string (*get)(const RunOptions& options);
  const char* engine = nullptr;  // the only engine for which it has a meaning; null: every engine
};

// In the order of --help, which is also the order of the nested loops in `compare`: the last option varies fastest.
// They are set in this order too: what is typed beside a recipe has the last word.
const std::vector<RunOption>& run_option_list();

}  // namespace tg
