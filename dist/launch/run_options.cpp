#include "dist/launch/run_options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/registry.h"
#include "dist/cores.h"
#include "dist/launch/machine.h"
#include "dist/launch/parse.h"
#include "dist/launch/recipes.h"
#include "framework/core/error.h"
#include "framework/core/spec.h"

namespace tg {
namespace {

constexpr double kMostEpochs = 1e6;
constexpr double kHighestRate = 1e9;
constexpr double kLongestGradient = 1e30;
constexpr int64_t kLargestBatch = 1 << 20;
constexpr int64_t kMostWorkers = 4096;
constexpr int64_t kMostThreads = 1024;
constexpr int64_t kMostGradients = 1'000'000'000'000'000;
constexpr int64_t kMostShards = 1024;
constexpr int64_t kHighestCore = 65535;

std::string text_of(double value) { return fmt::format("{}", value); }
std::string text_of(const std::optional<double>& value) { return value ? text_of(*value) : ""; }
std::string text_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text.append(text.empty() ? "" : ",").append(text_of(value));
  return text;
}

void set_engine(RunOptions& options, const std::string& text) {
  options.engine = parse_choice("--engine", text, {"simulate", "threads", "tcp"});
  require(text != "tcp", "--engine {}: this version runs on this machine alone: use simulate or threads", text);
}

// "0,2,4-7"
void set_cores(RunOptions& options, const std::string& text) {
  options.cores.clear();
  if (text == "any") return;
  const std::vector<int> usable = usable_cores();
  const auto number = [&](const std::string& word) {
    return static_cast<int>(parse_integer("--cores", word, 0, kHighestCore));
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t dash = word.find('-', 1);
    const int first = number(word.substr(0, dash));
    const int last = dash == std::string::npos ? first : number(word.substr(dash + 1));
    require(first <= last, "--cores {}: expected a range that grows, found {}", text, word);
    for (int core = first; core <= last; ++core) {
      require(std::find(usable.begin(), usable.end(), core) != usable.end(),
              "--cores {}: there is no core {} for this process; it may use {}", text, core, ranges(usable));
      require(std::find(options.cores.begin(), options.cores.end(), core) == options.cores.end(),
              "--cores {}: core {} is there twice", text, core);
      options.cores.push_back(core);
    }
    begin = end + 1;
  }
}

std::string cores_text(const RunOptions& options) {
  std::string text;
  for (const int core : options.cores) text.append(text.empty() ? "" : ",").append(std::to_string(core));
  return text.empty() ? "any" : text;
}

void set_drops(RunOptions& options, const std::string& text) {
  options.drop_at.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const double epoch = parse_number("--drop-at", text.substr(begin, end - begin), 0, kMostEpochs);
    const double before = options.drop_at.empty() ? 0 : options.drop_at.back();
    require(epoch > before, "--drop-at {}: expected epochs above 0 that grow, found {} after {}", text, epoch, before);
    options.drop_at.push_back(epoch);
    begin = end + 1;
  }
}

void set_recipe(RunOptions& options, const std::string& text) {
  const Recipe& recipe = find_recipe(text);
  options.recipe = recipe.name;
  options.data = recipe.data;
  options.model = recipe.model;
  options.batch = recipe.batch;
  options.learning_rate = recipe.learning_rate;
  options.epochs = recipe.epochs;
  options.warmup = recipe.warmup;
  options.drop_at = recipe.drop_at;
  options.drop_factor = recipe.drop_factor;
}

bool parse_switch(const char* flag, const std::string& text) {
  return text.empty() || parse_choice(flag, text, {"true", "false"}) == "true";
}

std::vector<RunOption> make_list() {
  using O = RunOptions;
  using Text = const std::string&;
  return {
      {"--recipe", "recipe", "NAME", false,
       "a paper's settings, which options typed beside it override: dana-resnet20, dc-asgd-resnet20, dana-wrn, "
       "resnet50-imagenet (none)",
       set_recipe, [](const O& o) { return o.recipe; }},
      {"--data", "data", "NAME", false, "data set; `tardygrad info` lists them (fashion-mnist)",
       [](O& o, Text t) { o.data = parse_choice("--data", t, dataset_names()); }, [](const O& o) { return o.data; }},
      {"--data-dir", "data_dir", "DIR", false,
       "where the data set's files are (TARDYGRAD_DATA, then /usr/share/datasets)",
       [](O& o, Text t) {
         require(!t.empty(), "--data-dir: expected a folder, found an empty word");
         o.data_dir = t;
       },
       [](const O& o) { return o.data_dir; }},
      {"--model", "model", "MODEL", false, "name or name:option=value,... (mlp)", [](O& o, Text t) { o.model = t; },
       [](const O& o) { return o.model; }},
      {"--engine", "engine", "ENGINE", false, "simulate: a virtual clock; threads: one for each worker (simulate)",
       set_engine, [](const O& o) { return o.engine; }},
      {"--rule", "rule", "RULE", false, "name or name:option=value,... (asgd)", [](O& o, Text t) { o.rule = t; },
       [](const O& o) { return o.rule; }},
      {"--gate", "gate", "GATE", false, "who waits for whom: async, bsp:backup=B, ssp:bound=K (the rule's own)",
       [](O& o, Text t) { o.gate = t; }, [](const O& o) { return o.gate; }},
      {"--codec-up", "codec_up", "CODEC", false, "how messages travel: name or name:option=value,... (none: float32)",
       [](O& o, Text t) { o.codec_up = t; }, [](const O& o) { return o.codec_up; }},
      {"--codec-down", "codec_down", "CODEC", false,
       "likewise, what parameters have changed by since the worker was sent some (none)",
       [](O& o, Text t) { o.codec_down = t; }, [](const O& o) { return o.codec_down; }},
      {"--workers", "workers", "N", true, "workers; a sequential rule runs with one (1)",
       [](O& o, Text t) { o.workers = static_cast<int>(parse_integer("--workers", t, 1, kMostWorkers)); },
       [](const O& o) { return std::to_string(o.workers); }},
      {"--epochs", "epochs", "E", true, "passes over the training set by all workers together; fractions are fine (1)",
       [](O& o, Text t) { o.epochs = parse_positive("--epochs", t, kMostEpochs); },
       [](const O& o) { return text_of(o.epochs); }},
      {"--batch", "batch", "N", true, "samples in a gradient (128)",
       [](O& o, Text t) { o.batch = parse_integer("--batch", t, 1, kLargestBatch); },
       [](const O& o) { return std::to_string(o.batch); }},
      {"--lr", "learning_rate", "RATE", true, "learning rate (0.05 times 1 - momentum)",
       [](O& o, Text t) { o.learning_rate = parse_number("--lr", t, 0, kHighestRate); },
       [](const O& o) { return text_of(o.learning_rate); }},
      {"--momentum", "momentum", "GAMMA", true, "momentum of rules that have one (the rule's default)",
       [](O& o, Text t) { o.momentum = parse_number("--momentum", t, 0, 1); },
       [](const O& o) { return text_of(o.momentum); }},
      {"--warmup", "warmup", "EPOCHS", true, "the rate first grows from RATE/N to RATE, N workers (0)",
       [](O& o, Text t) { o.warmup = parse_number("--warmup", t, 0, kMostEpochs); },
       [](const O& o) { return text_of(o.warmup); }},
      {"--drop-at", "drop_at", "E,E,...", false, "epochs at which the rate is multiplied by --drop-factor (none)",
       set_drops, [](const O& o) { return text_of(o.drop_at); }},
      {"--drop-factor", "drop_factor", "FACTOR", true, "see --drop-at (0.1)",
       [](O& o, Text t) { o.drop_factor = parse_positive("--drop-factor", t, 1); },
       [](const O& o) { return text_of(o.drop_factor); }},
      {"--clip-norm", "clip_norm", "X", true, "a gradient with a longer 2-norm is shortened to this (0: none is)",
       [](O& o, Text t) { o.clip_norm = parse_number("--clip-norm", t, 0, kLongestGradient); },
       [](const O& o) { return text_of(o.clip_norm); }},
      {"--clock", "clock", "CLOCK", false, "simulated machines: homogeneous or heterogeneous (homogeneous)",
       [](O& o, Text t) {
         o.clock = parse_choice("--clock", t, {"homogeneous", "heterogeneous"});
       },
       [](const O& o) { return o.clock; }, "simulate"},
      {"--evaluate-every", "evaluate_every", "EPOCHS", true, "between tests (a quarter of the run, at most 1)",
       [](O& o, Text t) { o.evaluate_every = parse_positive("--evaluate-every", t, kMostEpochs); },
       [](const O& o) { return text_of(o.evaluate_every); }},
      {"--snapshot-every", "snapshot_every", "GRADIENTS", true,
       "between snapshots, for --resume; one more if it is interrupted (0: none)",
       [](O& o, Text t) { o.snapshot_every = parse_integer("--snapshot-every", t, 0, kMostGradients); },
       [](const O& o) { return std::to_string(o.snapshot_every); }},
      {"--threads-per-worker", "threads_per_worker", "N", true, "threads within a gradient; changes its last bits (1)",
       [](O& o, Text t) {
         o.threads_per_worker = static_cast<int>(parse_integer("--threads-per-worker", t, 1, kMostThreads));
       },
       [](const O& o) { return std::to_string(o.threads_per_worker); }},
      {"--shards", "shards", "N", true, "parts of the server with a lock each, cut between tensors (1)",
       [](O& o, Text t) { o.shards = static_cast<int>(parse_integer("--shards", t, 1, kMostShards)); },
       [](const O& o) { return std::to_string(o.shards); }, "threads"},
      {"--cores", "cores", "LIST", false, "cores for the workers in turn, such as 0,2,4-7 (any)", set_cores, cores_text,
       "threads"},
      {"--hogwild", "hogwild", "", false, "asgd without locks; such a run cannot be replayed",
       [](O& o, Text t) { o.hogwild = parse_switch("--hogwild", t); },
       [](const O& o) { return std::string(o.hogwild ? "true" : "false"); }, "threads"},
      {"--exact-gap", "exact_gap", "", false, "gaps over all parameters, not 4096 of them; costs a pass over each",
       [](O& o, Text t) { o.exact_gap = parse_switch("--exact-gap", t); },
       [](const O& o) { return std::string(o.exact_gap ? "true" : "false"); }},
      {"--pool-threads", "pool_threads", "N", true,
       "gradients computed at a time; changes no result (0: as cores allow)",
       [](O& o, Text t) { o.pool_threads = static_cast<int>(parse_integer("--pool-threads", t, 0, kMostThreads)); },
       [](const O& o) { return std::to_string(o.pool_threads); }, "simulate"},
      {"--seed", "seed", "N", true, "of initial parameters, order of samples and clock (1)",
       [](O& o, Text t) { o.seed = parse_seed("--seed", t); }, [](const O& o) { return std::to_string(o.seed); }},
  };
}

}  // namespace

const std::vector<RunOption>& run_option_list() {
  static const std::vector<RunOption> list = make_list();
  return list;
}

}  // namespace tg
