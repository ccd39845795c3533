#pragma once
// summary.csv: one row per run.

#include <filesystem>
#include <string>
#include <vector>

#include "dist/history/history.h"
#include "dist/launch/plan.h"

namespace tg {

struct SummaryRow {
  std::string status, engine, rule, codec, model;
  int workers = 1;
  uint64_t seed = 0;
  double epochs = 0;  // as configured; of a run that ended early, those that were done
  double learning_rate = 0, momentum = 0;
  double test_error_percent = 0;  // of the last evaluation; nan if there was none or the run diverged
  double train_loss = 0;          // likewise
  double mean_lag = 0;
  int64_t max_lag = 0;
  double mean_gap = 0;
  int64_t bytes_up = 0, bytes_down = 0;
  double virtual_time = 0, seconds = 0;
  int workers_lost = 0;
};

SummaryRow summary_row(const Plan& plan, const History& history, int64_t batches_per_epoch);

// The header line, then a line per row.
void write_summary(const std::filesystem::path& path, const std::vector<SummaryRow>& rows);

// The status in the summary.csv of one run; empty if there is no such file.
std::string status_of_run(const std::filesystem::path& path);

// Of several runs: "finished", "2 of 3 diverged", "1 of 3 stopped".
std::string status_of(const std::vector<const SummaryRow*>& rows);

// The options that tell the runs apart: rule and workers, and what else differs but the seed.
std::vector<const RunOption*> telling_options(const std::vector<Plan>& plans);

// One line per configuration: mean and standard deviation over the seeds of its finished runs. rows[i] came from
// plans[i].
std::string summary_table(const std::vector<Plan>& plans, const std::vector<SummaryRow>& rows);

}  // namespace tg
