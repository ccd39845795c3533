#include "dist/launch/counterfactual.h"

#include "dist/launch/run.h"
#include "framework/core/error.h"
#include "optim/registry.h"

namespace tg {
namespace {

// Makes gates like the recorded run's, from which a rule that needs rounds learns whether there were any.
std::function<std::unique_ptr<Gate>()> gate_of(const Plan& recorded) {
  if (recorded.gate_spec) return [spec = *recorded.gate_spec] { return make_gate(spec); };
  return [rule = recorded.rule] { return rule->gate(); };
}

}  // namespace

Plan with(const Plan& recorded, const Instead& instead) {
  RunOptions options = recorded.options;
  if (instead.rule) {
    options.rule = *instead.rule;
    options.momentum.reset();
  }
  if (instead.codec_up) options.codec_up = *instead.codec_up;
  if (instead.codec_down) options.codec_down = *instead.codec_down;
  options.gate = "own";  // there is none: messages arrive as they did
  Plan plan = make_plan(std::move(options), Unfit::refuse);
  require(plan.options.workers == recorded.options.workers, "rule {}: it is sequential, and the run had {} workers",
          plan.options.rule, recorded.options.workers);
  return plan;
}

Job replay_job(const RecordedRun& recorded, const Plan& plan, const Task& task) {
  Job job = make_job(recorded.plan, task);
  if (plan.rule != recorded.plan.rule) {
    const Job other = make_job(plan, task);
    job.rule = other.rule;
    job.codec_up = other.codec_up;
    job.codec_down = other.codec_down;
    job.gate = gate_of(recorded.plan);
    require(!plan.rule->needs_rounds() || make_gate(job)->in_rounds(),
            "rule {}: it takes a step at the end of a round, and the messages of {} came in no rounds",
            plan.options.rule, recorded.folder.string());
  }
  check_job(job, "replay");
  return job;
}

Replayed replay_recorded(const RecordedRun& recorded, const Plan& plan, const Job& job, int pool_threads,
                         Observer& observer) {
  Replayed replayed =
      replay(job, recorded.logs, {.compare = plan.rule == recorded.plan.rule, .pool_threads = pool_threads}, observer);
  History& history = replayed.history;
  if (plan.options.engine == "simulate" && !history.updates.empty()) history.virtual_time = history.updates.back().time;
  return replayed;
}

nlohmann::ordered_json origin_of(const RecordedRun& recorded) {
  return {{"replay_of", {{"run", recorded.folder.string()}, {"rule", recorded.plan.options.rule}}}};
}

}  // namespace tg
