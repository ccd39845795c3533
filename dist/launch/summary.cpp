#include "dist/launch/summary.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "dist/launch/table.h"
#include "framework/core/error.h"
#include "framework/io/csv.h"
#include "framework/io/file.h"

namespace tg {
namespace {

constexpr const char* kHeader =
    "status,engine,rule,codec,model,workers,seed,epochs,learning_rate,momentum,test_error_percent,train_loss,mean_lag,"
    "max_lag,mean_gap,bytes_up,bytes_down,virtual_time,seconds,workers_lost,codec_down\n";

std::string line_of(const SummaryRow& row) {
  return csv_line({row.status,
                   row.engine,
                   row.rule,
                   row.codec,
                   row.model,
                   std::to_string(row.workers),
                   std::to_string(row.seed),
                   csv_number(row.epochs),
                   csv_number(row.learning_rate),
                   csv_number(row.momentum),
                   csv_number(row.test_error_percent),
                   csv_number(row.train_loss),
                   csv_number(row.mean_lag),
                   std::to_string(row.max_lag),
                   csv_number(row.mean_gap),
                   std::to_string(row.bytes_up),
                   std::to_string(row.bytes_down),
                   csv_number(row.virtual_time),
                   csv_number(row.seconds),
                   std::to_string(row.workers_lost),
                   row.codec_down});
}

std::string column(const std::vector<const SummaryRow*>& rows, double SummaryRow::*field, int digits) {
  std::vector<double> values;
  for (const SummaryRow* row : rows) {
    if (row->status == "finished") values.push_back(row->*field);
  }
  return mean_and_deviation(values, digits);
}

}  // namespace

std::string status_of(const std::vector<const SummaryRow*>& rows) {
  std::string text;
  for (const char* status : {"diverged", "stopped"}) {
    const auto count = std::count_if(rows.begin(), rows.end(), [&](const auto* row) { return row->status == status; });
    if (count == 0) continue;
    text += text.empty() ? "" : ", ";
    text += rows.size() == 1 ? status : fmt::format("{} of {} {}", count, rows.size(), status);
  }
  return text.empty() ? "finished" : text;
}

SummaryRow summary_row(const Plan& plan, const History& history, int64_t batches_per_epoch) {
  const Summary summary = summarise(history);
  const bool finished = history.status == History::Status::finished;
  const double done = static_cast<double>(summary.gradients) / static_cast<double>(batches_per_epoch);
  SummaryRow row{.status = name_of(history.status),
                 .engine = plan.options.engine,
                 .rule = plan.options.rule,
                 .codec = plan.options.codec_up,
                 .model = plan.options.model,
                 .workers = plan.options.workers,
                 .seed = plan.options.seed,
                 .epochs = finished ? plan.options.epochs : done,
                 .learning_rate = *plan.options.learning_rate,
                 .momentum = *plan.options.momentum,
                 .test_error_percent = std::numeric_limits<double>::quiet_NaN(),
                 .train_loss = std::numeric_limits<double>::quiet_NaN(),
                 .mean_lag = summary.mean_lag,
                 .max_lag = summary.max_lag,
                 .mean_gap = summary.mean_gap,
                 .bytes_up = summary.bytes_up,
                 .bytes_down = summary.bytes_down,
                 .virtual_time = history.virtual_time,
                 .seconds = history.seconds,
                 .workers_lost = static_cast<int>(history.lost.size()),
                 .codec_down = plan.options.codec_down};
  if (!history.evaluations.empty() && history.status != History::Status::diverged) {
    row.test_error_percent = history.evaluations.back().test_error_percent;
    row.train_loss = history.evaluations.back().train_loss;
  }
  return row;
}

void write_summary(const std::filesystem::path& path, const std::vector<SummaryRow>& rows) {
  std::string text = kHeader;
  for (const SummaryRow& row : rows) text += line_of(row);
  write_file(path, text);
}

std::string status_of_run(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  std::ifstream stream = open_to_read(path);
  std::string header, status;
  if (std::getline(stream, header)) std::getline(stream, status, ',');
  return status;
}

std::vector<const RunOption*> telling_options(const std::vector<Plan>& plans) {
  std::vector<const RunOption*> telling;
  for (const RunOption& option : run_option_list()) {
    if (option.name == "seed") continue;
    std::set<std::string> values;
    for (const Plan& plan : plans) values.insert(option.get(plan.options));
    if (values.size() > 1 || option.name == "rule" || option.name == "workers") telling.push_back(&option);
  }
  return telling;
}

std::string summary_table(const std::vector<Plan>& plans, const std::vector<SummaryRow>& rows) {
  std::vector<std::string> order;  // of configurations, as they first appear
  std::map<std::string, std::vector<const SummaryRow*>> groups;
  std::map<std::string, const Plan*> plan_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string key = identity(plans[i], false);
    if (groups[key].empty()) order.push_back(key);
    groups[key].push_back(&rows[i]);
    plan_of[key] = &plans[i];
  }
  const std::vector<const RunOption*> telling = telling_options(plans);
  std::vector<std::string> header;
  for (const RunOption* option : telling) header.push_back(option->name);
  for (const char* name :
       {"seeds", "test error %", "train loss", "mean lag", "mean gap", "virtual time", "seconds", "status"})
    header.emplace_back(name);
  std::vector<std::vector<std::string>> lines;
  for (const std::string& key : order) {
    const auto& group = groups[key];
    std::vector<std::string> line;
    for (const RunOption* option : telling) line.push_back(option->get(plan_of[key]->options));
    line.push_back(std::to_string(group.size()));
    line.push_back(column(group, &SummaryRow::test_error_percent, 2));
    line.push_back(column(group, &SummaryRow::train_loss, 4));
    line.push_back(column(group, &SummaryRow::mean_lag, 2));
    line.push_back(column(group, &SummaryRow::mean_gap, 6));
    line.push_back(column(group, &SummaryRow::virtual_time, 0));
    line.push_back(column(group, &SummaryRow::seconds, 1));
    line.push_back(status_of(group));
    lines.push_back(line);
  }
  return table(header, lines, 1);
}

}  // namespace tg
