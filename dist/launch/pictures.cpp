#include "dist/launch/pictures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "framework/core/error.h"

namespace tg {
namespace {

constexpr std::size_t kMostPoints = 600;
constexpr const char* kGapLabel = "gap (root mean square)";
using Style = Series::Style;

Series over_epochs(const std::string& name, const std::vector<EvaluationRecord>& evaluations,
                   double EvaluationRecord::*field) {
  Series series{name, {}, {}, Style::lines_and_points};
  for (const EvaluationRecord& evaluation : evaluations) {
    series.x.push_back(evaluation.epoch);
    series.y.push_back(evaluation.*field);
  }
  return series;
}

bool has_points(const Plot& plot) {
  return std::any_of(plot.series.begin(), plot.series.end(), [](const Series& series) {
    return std::any_of(series.y.begin(), series.y.end(), [](double y) { return std::isfinite(y); });
  });
}

// Calls `draw_them`. Returns an empty text, or why there are no pictures.
std::string reason_not_to(const std::function<void()>& draw_them) {
  if (!gnuplot_found())
    return "no pictures: there is no gnuplot; run apt-get install --no-install-recommends gnuplot-nox";
  try {
    draw_them();
  } catch (const Error& error) {
    return fmt::format("not all pictures: {}", error.what());
  }
  return "";
}

// Draws the plots that have points. Returns what reason_not_to() returns.
std::string draw_all(const std::filesystem::path& folder, const std::vector<std::pair<const char*, Plot>>& plots) {
  return reason_not_to([&] {
    for (const auto& [name, plot] : plots) {
      if (has_points(plot)) draw(plot, folder / name);
    }
  });
}

// The mean over the runs of their first evaluations, of their second ones, and so on. A run that ended early counts as
// far as it came.
Series mean_curve(const ComparedRuns& compared, double EvaluationRecord::*field) {
  Series mean{compared.name, {}, {}, Style::lines_and_points};
  for (std::size_t i = 0;; ++i) {
    double sum = 0, n = 0, epoch = 0;
    for (const auto& run : compared.runs) {
      if (i >= run.size()) continue;
      sum += run[i].*field;
      epoch = run[i].epoch;
      ++n;
    }
    if (n == 0) return mean;
    mean.x.push_back(epoch);
    mean.y.push_back(sum / n);
  }
}

}  // namespace

std::string draw_trace_of_run(const std::filesystem::path& folder, const Trace& trace) {
  return reason_not_to([&] { draw_trace(trace, folder / "trace.svg"); });
}

Series gap_curve(const History& history) {
  Series gaps{"", {}, {}, Style::lines};
  for (const UpdateRecord& update : history.updates) {
    if (std::isnan(update.gap)) continue;  // not measured
    gaps.x.push_back(static_cast<double>(update.update));
    gaps.y.push_back(update.gap);
  }
  return thin(gaps, kMostPoints);
}

std::string draw_run(const std::filesystem::path& folder, const std::string& title, const History& history) {
  const auto& evaluations = history.evaluations;
  std::vector<int64_t> lags;
  for (const UpdateRecord& update : history.updates) lags.push_back(update.lag);
  return draw_all(
      folder,
      {{"loss.svg",
        {title,
         "epoch",
         "loss",
         {over_epochs("training", evaluations, &EvaluationRecord::train_loss),
          over_epochs("test", evaluations, &EvaluationRecord::test_loss)}}},
       {"error.svg",
        {title, "epoch", "test error, %", {over_epochs("", evaluations, &EvaluationRecord::test_error_percent)}}},
       {"lag.svg", {title, "lag, updates", "share of the gradients, %", {histogram("", lags)}}},
       {"gap.svg", {title, "update", kGapLabel, {gap_curve(history)}}}});
}

std::string draw_comparison(const std::filesystem::path& folder, const std::vector<ComparedRuns>& compared) {
  Plot error{"Test error", "epoch", "test error, %", {}}, loss{"Training loss", "epoch", "training loss", {}},
      gap{"Gap", "update", kGapLabel, {}};
  for (const ComparedRuns& runs : compared) {
    error.series.push_back(mean_curve(runs, &EvaluationRecord::test_error_percent));
    loss.series.push_back(mean_curve(runs, &EvaluationRecord::train_loss));
    gap.series.push_back(runs.gap);
    gap.series.back().name = runs.name;
    // One rule's gap may be a hundred times another's.
    gap.log_y |= std::any_of(runs.gap.y.begin(), runs.gap.y.end(), [](double y) { return y > 0; });
  }
  return draw_all(folder, {{"error.svg", error}, {"loss.svg", loss}, {"gap.svg", gap}});
}

}  // namespace tg
