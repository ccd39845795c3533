#include "dist/launch/run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/registry.h"
#include "dist/launch/machine.h"
#include "dist/launch/pictures.h"
#include "dist/launch/table.h"
#include "dist/shards.h"
#include "dist/simulate/simulator.h"
#include "dist/threads/threads.h"
#include "framework/io/file.h"
#include "framework/nn/cost.h"
#include "framework/nn/models/models.h"
#include "optim/registry.h"

namespace tg {
namespace {

constexpr double kUneven = 1.2;  // the imbalance() of shards above which the user is told

int64_t gradients_in(double epochs, int64_t batches_per_epoch) {
  return std::llround(epochs * static_cast<double>(batches_per_epoch));
}

Schedule make_schedule(const RunOptions& options, int64_t batches_per_epoch) {
  Schedule::Options schedule{.peak = *options.learning_rate,
                             .warmup = gradients_in(options.warmup, batches_per_epoch),
                             .warmup_start = *options.learning_rate / options.workers,
                             .drops = {},
                             .factor = options.drop_factor};
  for (const double epoch : options.drop_at) {
    const int64_t after = gradients_in(epoch, batches_per_epoch);
    require(after > (schedule.drops.empty() ? 0 : schedule.drops.back()),
            "--drop-at: epoch {} is gradient {} of {} in an epoch, which is not after {}; put drops at least a "
            "gradient apart",
            epoch, after, batches_per_epoch, schedule.drops.empty() ? "the start" : "the drop before");
    schedule.drops.push_back(after);
  }
  return Schedule(schedule);
}

// As in the papers, one time unit for each sample of the batch.
SimulatorOptions make_simulator_options(const RunOptions& options) {
  return {.clock = {.mean = static_cast<double>(options.batch), .heterogeneous = options.clock == "heterogeneous"},
          .link = {},
          .pool_threads = options.pool_threads};
}

std::string config_text(const Plan& plan, const Job& job, const RunRecord& record) {
  nlohmann::ordered_json options;
  for (const RunOption& option : run_option_list()) {
    const std::string text = option.get(plan.options);
    if (option.is_number) {
      options[option.name] = text.empty() ? nlohmann::json() : nlohmann::json::parse(text);
    } else {
      options[option.name] = text;
    }
  }
  nlohmann::ordered_json rule{{"name", plan.rule_spec.name()}};
  for (const SpecInfo& info : rule_infos()) {
    if (info.name != plan.rule_spec.name()) continue;
    for (const OptionInfo& option : info.options) rule[option.name] = plan.rule_spec.text(option.name);
  }
  nlohmann::ordered_json config{{"command", record.command_line},
                                {"options", options},
                                {"notes", plan.notes},
                                {"rule", rule},
                                {"data_found", found_dataset(plan.options.data, plan.options.data_dir)},
                                {"codec_up", job.codec_up(job.task->layout())->describe()},
                                {"codec_down", job.codec_down(job.task->layout())->describe()},
                                {"parameters", job.task->layout().count()},
                                {"batches_per_epoch", job.task->batches_per_epoch()},
                                {"gradients", job.gradients},
                                {"evaluate_every_gradients", job.evaluate_every}};
  config.update(record.config);
  config["machine"] = to_json(this_machine());
  return config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

ThreadsOptions make_threads_options(const RunOptions& options) {
  return {.shards = options.shards, .cores = options.cores, .hogwild = options.hogwild};
}

// The size of each shard, and a warning where one has most of the work.
std::string describe_shards(const Layout& layout, int shards) {
  std::string sizes;
  const std::vector<ShardRange> ranges = cut_shards(layout, shards);
  for (const ShardRange& range : ranges)
    sizes += fmt::format("{}{:.3g}", sizes.empty() ? "" : ", ", static_cast<double>(range.bytes()) / 1e6);
  std::string text = fmt::format("{} shards of {} MB", shards, sizes);
  if (imbalance(ranges) > kUneven)
    text += fmt::format("; note: the largest has {:.1f} times the mean, since shards are cut between tensors",
                        imbalance(ranges));
  return text;
}

// Throws Error for a run that needs more memory than this machine has. Counted are theta and three further vectors on
// the server; three vectors for each worker (what it was sent, its message, one of the rule's); and the activations of
// one training step. A lower bound: several steps may be under way at the same time.
void refuse_what_cannot_fit(const Plan& plan, const Shape& sample, int64_t classes) {
  const RunOptions& options = plan.options;
  const ModelCost step = cost_of(make_model(plan.model_spec, sample, classes), batch_of(options.batch, sample));
  const int64_t state = 4 + 3 * int64_t{options.workers};
  const int64_t vectors = options.snapshot_every > 0 ? 2 * state : state;  // a snapshot is put together in memory
  const int64_t activations = step.peak_bytes - step.parameter_bytes - step.gradient_bytes;
  require_memory(
      fmt::format("{}, {} parameters, batches of {}", describe(plan), step.parameters, options.batch),
      static_cast<double>(vectors) * static_cast<double>(step.parameter_bytes) + static_cast<double>(activations),
      "choose a smaller --model or --batch, or fewer --workers");
}

// The run is over and its events are recorded, but `error` keeps the files that follow from them from being written:
// the disk is full, or somebody moved the folder.
[[noreturn]] void fail_after_the_run(const RunFolder& folder, const Error& error) {
  const std::string path = folder.path().string();
  std::error_code ignored;
  require(std::filesystem::exists(folder.file("config.json"), ignored),
          "{}; the run is over, but {} is not its folder any more: `tardygrad replay` of the folder, where it is now, "
          "with --out NEW makes all its files",
          error.what(), path);
  fail("{}; the run itself is over and recorded: `tardygrad replay {} --out NEW` makes all its files", error.what(),
       path);
}

void write_results(const RunFolder& folder, const Plan& plan, const History& history, const SummaryRow& row,
                   const std::string& label) {
  write_file(folder.file("workers.csv"), workers_text(history, plan.options.workers));
  const std::string trouble = draw_run(folder.path(), describe(plan), history);
  if (!trouble.empty()) say(fmt::format("{}{}\n", label, trouble));
  write_summary(folder.file("summary.csv"), {row});  // last of all: a folder with this file is complete
}

}  // namespace

const Splits& LoadedData::get(const RunOptions& options) {
  const auto key = std::pair(options.data, options.data_dir);
  const auto found = loaded_.find(key);
  if (found != loaded_.end()) return found->second;
  return loaded_.emplace(key, load_dataset(options.data, options.data_dir)).first->second;
}

ClassificationTask make_task(const Plan& plan, const Splits& data) {
  const Shape picture{data.train.height, data.train.width, data.train.channels};
  refuse_what_cannot_fit(plan, picture, data.train.classes());
  return {
      data,
      [spec = plan.model_spec, picture, classes = data.train.classes()] { return make_model(spec, picture, classes); },
      plan.options.batch};
}

Job make_job(const Plan& plan, const Task& task) {
  const RunOptions& options = plan.options;
  const std::size_t tensors = task.layout().entries().size();
  require(static_cast<std::size_t>(options.shards) <= tensors,
          "--shards {}: the model has {} parameter tensors and each shard holds at least one: use 1 to {}",
          options.shards, tensors, tensors);
  const int64_t per_epoch = task.batches_per_epoch();
  const int64_t gradients = std::max<int64_t>(gradients_in(options.epochs, per_epoch), 1);
  // By default four evaluations in a run; rounded up, so that the last but one does not come just before the last.
  const int64_t between = options.evaluate_every ? gradients_in(*options.evaluate_every, per_epoch)
                                                 : std::min((gradients + 3) / 4, per_epoch);
  const auto codec = [](const Spec& spec) { return [spec](const Layout& layout) { return make_codec(spec, layout); }; };
  std::function<std::unique_ptr<Gate>()> gate;
  if (plan.gate_spec) gate = [spec = *plan.gate_spec] { return make_gate(spec); };
  return {.task = &task,
          .rule = plan.rule.get(),
          .gate = gate,
          .codec_up = codec(plan.codec_up_spec),
          .codec_down = codec(plan.codec_down_spec),
          .schedule = make_schedule(options, per_epoch),
          .workers = options.workers,
          .gradients = gradients,
          .evaluate_every = std::max<int64_t>(between, 1),
          .snapshot_every = options.snapshot_every,
          .seed = options.seed,
          .threads_per_worker = options.threads_per_worker,
          .clip_norm = options.clip_norm,
          .exact_gap = options.exact_gap};
}

std::vector<std::pair<std::string, std::string>> options_of_job(const Plan& plan) {
  static const std::set<std::string> others{"recipe", "data_dir",       "pool_threads",
                                            "cores",  "evaluate_every", "snapshot_every"};
  std::vector<std::pair<std::string, std::string>> options;
  for (const RunOption& option : run_option_list())
    if (!others.contains(option.name)) options.emplace_back(option.name, option.get(plan.options));
  return options;
}

// The key of a random stream serves as the hash: splitting a stream by a name hashes the name into its key.
uint64_t job_hash(const Plan& plan, const Layout& layout) {
  Stream hash(layout.hash());
  for (const auto& [name, value] : options_of_job(plan)) hash = hash.split(name + "=" + value);
  return hash.key();
}

RecordedJob recorded_job(const Plan& plan, const Layout& layout) {
  return {.hash = job_hash(plan, layout),
          .shards = plan.options.hogwild ? 0 : plan.options.shards,
          .options = options_of_job(plan)};
}

History run_engine(const Plan& plan, const Job& job, Observer& observer) {
  if (plan.options.engine == "threads") return run_threads(job, make_threads_options(plan.options), observer);
  return simulate(job, make_simulator_options(plan.options), observer);
}

RunResult record_run(const Plan& plan, const Job& job, const RunFolder& folder, const RunRecord& record,
                     const std::function<History(Observer&)>& engine, const std::string& label,
                     const Interrupt& interrupt) {
  const Task& task = *job.task;
  const RecordedJob recorded = recorded_job(plan, task.layout());
  History history;
  if (record.resumption) {
    const int64_t done = record.resumption->gradients;
    Progress progress(label, job.gradients, task.batches_per_epoch(), done);
    Recorder recorder(folder.path(), recorded, *record.resumption->snapshot, done, progress, interrupt);
    history = engine(recorder);
    recorder.finish();
  } else {
    Progress progress(label, job.gradients, task.batches_per_epoch());
    // First of all, since it creates its files or throws: if two runs found the same folder empty, only one goes on.
    Recorder recorder(folder.path(), recorded, progress, interrupt);
    write_file(folder.file("config.json"), config_text(plan, job, record));
    history = engine(recorder);
    recorder.finish();
  }
  RunResult result{summary_row(plan, history, task.batches_per_epoch()), history.evaluations, gap_curve(history),
                   history.message};
  if (!record.engine.empty()) result.row.engine = record.engine;
  try {
    write_results(folder, plan, history, result.row, label);
  } catch (const Error& error) {
    if (recorded.shards == 0) throw;  // it has no events
    fail_after_the_run(folder, error);
  }
  return result;
}

RunResult run(const Plan& plan, const Job& job, const RunFolder& folder, const RunRecord& record,
              const std::string& label, const Interrupt& interrupt) {
  if (plan.options.shards > 1)
    say(fmt::format("{}{}\n", label, describe_shards(job.task->layout(), plan.options.shards)));
  for (const auto& [way, codec] : {std::pair("up", job.codec_up), std::pair("down", job.codec_down)})
    if (const auto made = codec(job.task->layout()); !made->exact())
      say(fmt::format("{}{}: {}\n", label, way, made->describe()));
  const auto engine = [&](Observer& observer) { return run_engine(plan, job, observer); };
  return record_run(plan, job, folder, record, engine, label, interrupt);
}

}  // namespace tg
