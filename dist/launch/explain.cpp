// `tardygrad explain`: who sent what for an update, and what the rule's formula made of it.

#include <cmath>
#include <nlohmann/json.hpp>

#include "dist/history/explanation.h"
#include "dist/launch/commands.h"
#include "dist/launch/recorded_run.h"
#include "dist/launch/recorder.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "dist/replay/replay.h"
#include "dist/shards.h"
#include "framework/core/error.h"

namespace tg {
namespace {

using nlohmann::ordered_json;

constexpr int kCoordinates = 5;  // shown of each term
constexpr std::size_t kLineLength = 100;

// A message that was taken in, as shard 0 counts.
struct Message {
  int64_t update = 0;
  WorkerId worker = 0;
  int64_t batch = 0;
  int64_t of_worker = 0;  // updates of its worker before it
};

// The message of update number `number`, counted over all workers or, if it is given, over the updates of `worker`.
Message find_message(const std::vector<Event>& events, int64_t number, std::optional<WorkerId> worker, int workers) {
  require(!worker || *worker < workers, "--worker {}: the run has {} workers, from 0 to {}", worker.value_or(0),
          workers, workers - 1);
  Message message;
  std::vector<int64_t> of(static_cast<size_t>(workers));
  int64_t found = 0;
  for (const Event& event : events) {
    if (event.kind != Event::Kind::arrive || !event.taken) continue;
    require(event.worker >= 0 && event.worker < workers, "the events name worker {}; the run has {}", event.worker,
            workers);
    message.worker = event.worker;
    message.batch = event.batch;
    message.of_worker = of[static_cast<size_t>(event.worker)]++;
    if ((!worker || event.worker == *worker) && found++ == number) return message;
    ++message.update;
  }
  fail("--update {}: {} {} updates, counted from 0", number,
       worker ? fmt::format("worker {} has made", *worker) : "the run has", found);
}

// What went into an update, at both ends.
struct BothEnds {
  Explanation worker, server;
  int64_t steps;  // of the worker's local loop; the terms at the worker are those of the first
};

// Asks for the terms of the update, and stops the replay when all shards have taken it in.
class Asking final : public Listener {
 public:
  Asking(const Message& message, BothEnds& explanation, const Layout& layout, const std::vector<ShardRange>& shards,
         Progress& progress, const Interrupt& interrupt)
      : Listener(progress, interrupt), message_(message), work_(explanation.worker.of_shard(layout)) {
    for (const ShardRange& shard : shards) parts_.push_back(explanation.server.of_shard(shard.layout));
  }

  Terms* explain_to(int shard, WorkerId worker, int64_t batch, View) override {
    return worker == message_.worker && batch == message_.batch ? parts_[static_cast<size_t>(shard)].get() : nullptr;
  }
  Terms* explain_work_to(WorkerId worker, int64_t batch) override {
    return worker == message_.worker && batch == message_.batch ? work_.get() : nullptr;
  }
  void on_update(const UpdateRecord& update) override {
    Listener::on_update(update);
    if (update.update == message_.update) found_ = update;
  }
  bool stop() override { return found_ || Listener::stop(); }

  const std::optional<UpdateRecord>& found() const { return found_; }

 private:
  const Message message_;
  const std::unique_ptr<Terms> work_;
  std::vector<std::unique_ptr<Terms>> parts_;  // by shard
  std::optional<UpdateRecord> found_;
};

ordered_json to_json(const ExplainedTerm& term) {
  ordered_json coordinates = ordered_json::array();
  for (const Coordinate& c : term.largest)
    coordinates.push_back({{"parameter", c.parameter}, {"index", c.index}, {"value", c.value}});
  const double largest = term.largest.empty() ? 0 : std::abs(static_cast<double>(term.largest.front().value));
  return {{"name", term.name}, {"norm", term.norm()}, {"largest", largest}, {"coordinates", coordinates}};
}

ordered_json to_json(const Explanation& explanation) {
  ordered_json terms = ordered_json::array();
  for (const ExplainedTerm& term : explanation.terms()) terms.push_back(to_json(term));
  return terms;
}

std::string json_text(const RecordedRun& run, const Message& message, const UpdateRecord& update,
                      const BothEnds& explanation) {
  const ordered_json json{{"run", run.folder.string()},
                          {"rule", run.plan.options.rule},
                          {"update", update.update},
                          {"worker", update.worker},
                          {"update_of_worker", message.of_worker},
                          {"batch", update.batch},
                          {"lag", update.lag},
                          {"gap", update.gap},
                          {"loss", update.loss},
                          {"learning_rate", update.learning_rate},
                          {"time", update.time},
                          {"worker_terms", to_json(explanation.worker)},
                          {"terms", to_json(explanation.server)}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string text_of(const ExplainedTerm& term) {
  if (term.squares == 0) return fmt::format("{}\n    zero everywhere\n", term.name);
  std::string text = term.name + "\n", line = fmt::format("    2-norm {:.4g}; largest", term.norm());
  for (const Coordinate& c : term.largest) {
    const std::string item = fmt::format(" {:.4g} {}{}", c.value, name_of(c), &c == &term.largest.back() ? "" : ",");
    if (line.size() + item.size() > kLineLength) {
      text += line + "\n";
      line = "       ";
    }
    line += item;
  }
  return text + line + "\n";
}

std::string text_of(const Explanation& explanation) {
  std::string text;
  for (const ExplainedTerm& term : explanation.terms()) text += text_of(term);
  return text;
}

std::string text_of(const RecordedRun& run, const Message& message, const UpdateRecord& update,
                    const BothEnds& explanation) {
  std::string text = fmt::format(
      "update {} of {}\nworker {} (its update {}), batch {}, lag {}, gap {:.4g}, loss {:.4g}, learning rate {:.4g}\n\n",
      update.update, describe(run.plan), update.worker, message.of_worker, update.batch, update.lag, update.gap,
      update.loss, update.learning_rate);
  const std::string at_server = text_of(explanation.server);
  if (explanation.worker.terms().empty()) return text + at_server;
  const std::string which = explanation.steps == 1 ? "" : fmt::format(", the first of its {} steps", explanation.steps);
  return text + fmt::format("worker{}:\n\n{}\nserver:\n\n{}", which, text_of(explanation.worker), at_server);
}

}  // namespace

int explain(const ExplainOptions& options) {
  const Interrupt interrupt;  // before the first thread
  const RecordedRun run = read_run(options.run, options.data_dir);
  const Message message =
      find_message(run.logs.front().events, options.update, options.worker, run.plan.options.workers);
  LoadedData data;
  const ClassificationTask task = make_task(run.plan, data.get(run.plan.options));
  const Job job = make_job(run.plan, task);
  check_logs(run, task.layout());
  if (!options.parameter.empty()) task.layout().find(options.parameter);  // throws if there is none

  BothEnds explanation{.worker = Explanation(kCoordinates, options.parameter),
                       .server = Explanation(kCoordinates, options.parameter),
                       .steps = job.batches_of(message.batch)};
  const std::vector<ShardRange> shards = cut_shards(task.layout(), static_cast<int>(run.logs.size()));
  std::optional<UpdateRecord> update;
  {
    Progress progress("replaying: ", job.gradients_of(message.update + 1), task.batches_per_epoch());
    Asking listener(message, explanation, task.layout(), shards, progress, interrupt);
    const Replayed replayed =
        replay(job, run.logs, {.evaluate = false, .pool_threads = run.plan.options.pool_threads}, listener);
    require(replayed.difference.empty(), "explain: this is not what the run did: {}", replayed.difference);
    update = listener.found();
  }
  if (interrupt.signal() != 0) return interrupt.exit_code();
  require(update.has_value(), "explain: the run was killed before all shards had update {}", message.update);
  say(options.json ? json_text(run, message, *update, explanation) : text_of(run, message, *update, explanation));
  return 0;
}

}  // namespace tg
