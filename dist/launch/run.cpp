#include "dist/launch/run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/registry.h"
#include "dist/history/event_log.h"
#include "dist/launch/machine.h"
#include "dist/launch/pictures.h"
#include "dist/launch/progress.h"
#include "dist/launch/table.h"
#include "dist/simulate/simulator.h"
#include "framework/io/csv.h"
#include "framework/io/file.h"
#include "framework/nn/cost.h"
#include "framework/nn/models/models.h"
#include "optim/registry.h"

namespace tg {
namespace {

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

// The paper's clock: a time unit a sample.
SimulatorOptions make_simulator_options(const RunOptions& options) {
  return {.clock = {.mean = static_cast<double>(options.batch), .heterogeneous = options.clock == "heterogeneous"},
          .link = {},
          .pool_threads = options.pool_threads};
}

std::string config_text(const Plan& plan, const Job& job, const std::vector<std::string>& command_line) {
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
  const nlohmann::ordered_json config{{"command", command_line},
                                      {"options", options},
                                      {"notes", plan.notes},
                                      {"rule", rule},
                                      {"data_found", found_dataset(plan.options.data, plan.options.data_dir)},
                                      {"codec", "none"},
                                      {"parameters", job.task->layout().count()},
                                      {"batches_per_epoch", job.task->batches_per_epoch()},
                                      {"gradients", job.gradients},
                                      {"evaluate_every_gradients", job.evaluate_every},
                                      {"machine", to_json(this_machine())}};
  return config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Writes what happens while it happens.
class Recorder final : public Observer {
 public:
  Recorder(const RunFolder& folder, const EventLogHeader& header, Progress& progress, const Interrupt& interrupt)
      : metrics_(folder.file("metrics.csv")),
        events_(folder.file("events.bin"), header),
        progress_(progress),
        interrupt_(interrupt) {
    metrics_.append("gradients,epoch,time,train_loss,test_loss,test_error_percent\n");
  }

  void on_event(int, const Event& event) override { events_.append(event); }
  void on_update(const UpdateRecord& update) override { progress_.on_update(update); }
  void on_evaluation(const EvaluationRecord& e) override {
    metrics_.append(csv_line({std::to_string(e.gradients), csv_number(e.epoch), csv_number(e.time),
                              csv_number(e.train_loss), csv_number(e.test_loss), csv_number(e.test_error_percent)}));
    progress_.on_evaluation(e);
  }
  bool stop() override { return interrupt_.signal() != 0; }

  void finish() {
    events_.flush();
    metrics_.sync();
  }

 private:
  GrowingFile metrics_;
  EventLogWriter events_;
  Progress& progress_;
  const Interrupt& interrupt_;
};

// Lag, gap and bytes of each worker.
std::string workers_text(const History& history, int workers) {
  std::string text = "worker,gradients,mean_lag,max_lag,mean_gap,bytes_up,bytes_down\n";
  std::vector<History> of(static_cast<std::size_t>(workers));
  for (const UpdateRecord& update : history.updates)
    of[static_cast<std::size_t>(update.worker)].updates.push_back(update);
  for (std::size_t worker = 0; worker < of.size(); ++worker) {
    const Summary s = summarise(of[worker]);
    text += csv_line({std::to_string(worker), std::to_string(of[worker].updates.size()), csv_number(s.mean_lag),
                      std::to_string(s.max_lag), csv_number(s.mean_gap), std::to_string(s.bytes_up),
                      std::to_string(s.bytes_down)});
  }
  return text;
}

// Refuses what cannot fit: theta and its copies on the server; for each worker what it was sent, its message, and one
// vector of the rule's; what one training step holds beside parameters and gradient. An estimate from below: several
// steps may be under way at once.
void refuse_what_cannot_fit(const Plan& plan, const Shape& sample, int64_t classes) {
  const RunOptions& options = plan.options;
  const ModelCost step = cost_of(make_model(plan.model_spec, sample, classes), batch_of(options.batch, sample));
  const int64_t vectors = 4 + 3 * int64_t{options.workers};
  const int64_t activations = step.peak_bytes - step.parameter_bytes - step.gradient_bytes;
  require_memory(
      fmt::format("{}, {} parameters, batches of {}", describe(plan), step.parameters, options.batch),
      static_cast<double>(vectors) * static_cast<double>(step.parameter_bytes) + static_cast<double>(activations),
      "choose a smaller --model or --batch, or fewer --workers");
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
  const int64_t per_epoch = task.batches_per_epoch();
  const int64_t gradients = std::max<int64_t>(gradients_in(options.epochs, per_epoch), 1);
  // By default four times a run, rounded up so that no evaluation comes just before the last.
  const int64_t between = options.evaluate_every ? gradients_in(*options.evaluate_every, per_epoch)
                                                 : std::min((gradients + 3) / 4, per_epoch);
  const auto codec = [](const Layout& layout) { return make_none_codec(layout); };
  return {.task = &task,
          .rule = plan.rule.get(),
          .codec_up = codec,
          .codec_down = codec,
          .schedule = make_schedule(options, per_epoch),
          .workers = options.workers,
          .gradients = gradients,
          .evaluate_every = std::max<int64_t>(between, 1),
          .seed = options.seed,
          .threads_per_worker = options.threads_per_worker};
}

// A key of a random stream is a hash.
uint64_t job_hash(const Plan& plan, const Layout& layout) {
  Stream hash(layout.hash());
  for (const RunOption& option : run_option_list()) {
    if (option.name == "data_dir" || option.name == "pool_threads" || option.name == "evaluate_every") continue;
    hash = hash.split(option.name + "=" + option.get(plan.options));
  }
  return hash.key();
}

RunResult run(const Plan& plan, const Job& job, const RunFolder& folder, const std::vector<std::string>& command_line,
              const std::string& label, const Interrupt& interrupt) {
  const Task& task = *job.task;
  History history;
  {
    Progress progress(label, job.gradients, task.batches_per_epoch());
    // First, since it creates its files or fails: of two runs that found one folder empty, one gets no further.
    Recorder recorder(folder, {.job_hash = job_hash(plan, task.layout())}, progress, interrupt);
    write_file(folder.file("config.json"), config_text(plan, job, command_line));
    history = simulate(job, make_simulator_options(plan.options), recorder);
    recorder.finish();
  }
  RunResult result{summary_row(plan, history, task.batches_per_epoch()), history.evaluations, gap_curve(history),
                   history.message};
  write_summary(folder.file("summary.csv"), {result.row});
  write_file(folder.file("workers.csv"), workers_text(history, plan.options.workers));
  const std::string trouble = draw_run(folder.path(), describe(plan), history);
  if (!trouble.empty()) say(fmt::format("{}{}\n", label, trouble));
  return result;
}

}  // namespace tg
