#pragma once
// run(): one run, from its plan to the files in its folder.

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

// Loads data sets, and keeps them for the next run that needs them.
class LoadedData {
 public:
  const Splits& get(const RunOptions& options);

 private:
  std::map<std::pair<std::string, std::string>, Splits> loaded_;  // by name and folder
};

// The model and data of a plan, as engines see them. Throws Error if model, batch size and data do not go together, or
// need more memory than this machine has.
ClassificationTask make_task(const Plan& plan, const Splits& data);

// What the engine is given. Plan and task must outlive it. Throws Error for more shards than tensors, and for a
// schedule that is not possible, such as two drops of the learning rate at the same gradient.
Job make_job(const Plan& plan, const Task& task);

// Name and value of every option that can change the result of a run: not where the data lies, for example.
std::vector<std::pair<std::string, std::string>> options_of_job(const Plan& plan);

// Equal for two runs if one can replay the other's events and go on from its snapshots.
uint64_t job_hash(const Plan& plan, const Layout& layout);

RecordedJob recorded_job(const Plan& plan, const Layout& layout);

// Trains on the plan's engine; writes no file.
History run_engine(const Plan& plan, const Job& job, Observer& observer);

struct RunResult {
  SummaryRow row;
  std::vector<EvaluationRecord> evaluations;
  Series gap;           // gap_curve() of the run
  std::string message;  // History::message
};

// What the files of a run contain besides its plan and its history.
struct RunRecord {
  std::vector<std::string> command_line{};
  nlohmann::ordered_json config = nlohmann::ordered_json::object();  // further entries for config.json
  std::string engine{};                                              // in summary.csv; empty: the plan's engine
  const Resumption* resumption = nullptr;                            // from where the run goes on; null: a new run
};

// Calls `engine` and fills `folder`: config.json at the start, events.bin and metrics.csv while it runs, then
// workers.csv, pictures and, last, summary.csv. Each line that is printed starts with `label`. `job` is make_job(plan,
// ...).
RunResult record_run(const Plan& plan, const Job& job, const RunFolder& folder, const RunRecord& record,
                     const std::function<History(Observer&)>& engine, const std::string& label,
                     const Interrupt& interrupt);

// The same with run_engine().
RunResult run(const Plan& plan, const Job& job, const RunFolder& folder, const RunRecord& record,
              const std::string& label, const Interrupt& interrupt);

}  // namespace tg
