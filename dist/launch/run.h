#pragma once
// One run, from its plan to the files in its folder.

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "datasets/dataset.h"
#include "dist/engine.h"
#include "dist/launch/classification_task.h"
#include "dist/launch/interrupt.h"
#include "dist/launch/plan.h"
#include "dist/launch/recorder.h"
#include "dist/launch/resume.h"
#include "dist/launch/summary.h"
#include "framework/io/plot.h"
#include "framework/io/run_folder.h"

namespace tg {

// Data sets that stay loaded from one run to the next.
class LoadedData {
 public:
  const Splits& get(const RunOptions& options);

 private:
  std::map<std::pair<std::string, std::string>, Splits> loaded_;  // by name and folder
};

// Throws Error if model, batch size and data do not go together, or need more memory than there is.
ClassificationTask make_task(const Plan& plan, const Splits& data);

// What the engine is given. Plan and task must outlive it. Throws Error for a schedule that comes to nothing, such as
// two drops at the same gradient.
Job make_job(const Plan& plan, const Task& task);

// The options, by name, on which a run's result depends.
std::vector<std::pair<std::string, std::string>> options_of_job(const Plan& plan);

// The same for two runs if the events of one can be replayed by the other, and its snapshots gone on from.
uint64_t job_hash(const Plan& plan, const Layout& layout);

RecordedJob recorded_job(const Plan& plan, const Layout& layout);

struct RunResult {
  SummaryRow row;
  std::vector<EvaluationRecord> evaluations;
  Series gap;           // gap_curve() of the run
  std::string message;  // of a run that diverged: where
};

// What the files of a run say beside its plan and its history.
struct RunRecord {
  std::vector<std::string> command_line{};
  nlohmann::ordered_json config = nlohmann::ordered_json::object();  // more for config.json
  std::string engine{};                                              // for summary.csv; empty: the plan's
  const Resumption* resumption = nullptr;                            // the run in the folder goes on; null: it begins
};

// Runs `engine`, and fills `folder`: config.json and events.bin from the start, metrics.csv with a line per evaluation,
// then workers.csv, pictures and summary.csv. `label` starts each line that is printed. `job` is make_job(plan, ...).
RunResult record_run(const Plan& plan, const Job& job, const RunFolder& folder, const RunRecord& record,
                     const std::function<History(Observer&)>& engine, const std::string& label,
                     const Interrupt& interrupt);

// Trains on the plan's engine, likewise.
RunResult run(const Plan& plan, const Job& job, const RunFolder& folder, const RunRecord& record,
              const std::string& label, const Interrupt& interrupt);

}  // namespace tg
