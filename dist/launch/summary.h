#pragma once
// SummaryRow: the outcome of one run, which is a row of summary.csv. docs/runs.md has the units.

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
  double epochs = 0;  // as configured; if the run ended early, those that were done
  double learning_rate = 0, momentum = 0;
  double test_error_percent = 0;  // of the last evaluation; NaN if there was none or the run diverged
  double train_loss = 0;          // likewise
  double mean_lag = 0;
  int64_t max_lag = 0;
  double mean_gap = 0;
  int64_t bytes_up = 0, bytes_down = 0;
  double virtual_time = 0, seconds = 0;
  int workers_lost = 0;
  std::string codec_down;  // `codec` is the one up
};

SummaryRow summary_row(const Plan& plan, const History& history, int64_t batches_per_epoch);

// The header line, then a line per row.
void write_summary(const std::filesystem::path& path, const std::vector<SummaryRow>& rows);

// The status ("finished", ...) in a run's summary.csv; empty if there is no such file.
std::string status_of_run(const std::filesystem::path& path);

// Of several runs: "finished", "2 of 3 diverged", "1 of 3 stopped".
std::string status_of(const std::vector<const SummaryRow*>& rows);

// The options by which a table names the runs: rule, workers, and every other option, except the seed, that is not the
// same for all of them.
std::vector<const RunOption*> telling_options(const std::vector<Plan>& plans);

// A table with a line for each configuration: mean and standard deviation over the seeds of its finished runs. rows[i]
// is the outcome of plans[i].
std::string summary_table(const std::vector<Plan>& plans, const std::vector<SummaryRow>& rows);

}  // namespace tg
