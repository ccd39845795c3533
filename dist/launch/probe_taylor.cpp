// `tardygrad probe taylor`: how near a delay compensation comes to the gradient that it stands for.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dist/launch/commands.h"
#include "dist/launch/interrupt.h"
#include "dist/launch/recorder.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "dist/probe/taylor.h"
#include "framework/core/error.h"
#include "framework/io/csv.h"
#include "framework/io/file.h"
#include "framework/io/plot.h"

namespace tg {
namespace {

constexpr int64_t kPoints = 200;        // measured along a run, unless the user says otherwise
constexpr std::size_t kMostCurves = 6;  // beside the one of all parameters

// Shows progress and measures.
class Probing final : public TaylorProbe {
 public:
  Probing(const Job& job, int64_t every, Progress& progress, const Interrupt& interrupt)
      : TaylorProbe(job, every), listener_(progress, interrupt) {}
  void on_update(const UpdateRecord& update) override {
    TaylorProbe::on_update(update);
    listener_.on_update(update);
  }
  void on_evaluation(const EvaluationRecord& evaluation) override { listener_.on_evaluation(evaluation); }
  bool stop() override { return listener_.stop(); }

 private:
  Listener listener_;
};

TaylorSums all_tensors(const TaylorPoint& point) {
  TaylorSums sum;
  for (const TaylorSums& tensor : point.tensors) sum += tensor;
  return sum;
}

double ratio(double part, double of) { return of > 0 ? std::sqrt(part / of) : std::nan(""); }

std::string csv_of(const std::vector<TaylorPoint>& points, const Layout& layout) {
  std::string text = "update,lag,parameter,gradient,stale,compensated,compensation,best_factor\n";
  for (const TaylorPoint& point : points)
    for (std::size_t i = 0; i < point.tensors.size(); ++i) {
      const TaylorSums& t = point.tensors[i];
      text += csv_line({std::to_string(point.update), std::to_string(point.lag), layout.entries()[i].name,
                        csv_number(std::sqrt(t.gradient)), csv_number(std::sqrt(t.stale)),
                        csv_number(std::sqrt(t.compensated)), csv_number(std::sqrt(t.compensation)),
                        csv_number(t.best_factor())});
    }
  return text;
}

std::vector<std::string> row_of(const std::string& name, const TaylorSums& t) {
  return {name, fmt::format("{:.3f}", ratio(t.stale, t.gradient)),
          fmt::format("{:.3f}", ratio(t.compensated, t.gradient)), fmt::format("{:.3f}", ratio(t.compensated, t.stale)),
          fmt::format("{:.2g}", t.best_factor())};
}

std::string table_of(const std::vector<TaylorPoint>& points, const Layout& layout) {
  std::vector<TaylorSums> sums(layout.entries().size());
  TaylorSums all;
  for (const TaylorPoint& point : points) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += point.tensors[i];
    all += all_tensors(point);
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < sums.size(); ++i) rows.push_back(row_of(layout.entries()[i].name, sums[i]));
  rows.push_back(row_of("all", all));
  return table({"parameter", "stale", "compensated", "compensated/stale", "best factor"}, rows, 1);
}

// Compensated / stale over the run: below 1 the compensation helps. Of all parameters, and of the largest tensors.
Plot picture_of(const std::vector<TaylorPoint>& points, const Layout& layout, const std::string& title) {
  Plot plot{title, "update", "distance to the true gradient: compensated / stale", {}};
  const auto add = [&](const std::string& name, const auto& sums_at) {
    Series series{name, {}, {}, Series::Style::lines};
    for (const TaylorPoint& point : points) {
      const TaylorSums sums = sums_at(point);
      series.x.push_back(static_cast<double>(point.update));
      series.y.push_back(ratio(sums.compensated, sums.stale));
    }
    plot.series.push_back(thin(series, static_cast<std::size_t>(kPoints)));
  };
  add("all parameters", all_tensors);
  std::vector<std::size_t> largest(layout.entries().size());
  std::iota(largest.begin(), largest.end(), 0);
  std::stable_sort(largest.begin(), largest.end(), [&](std::size_t a, std::size_t b) {
    return layout.entries()[a].shape.count() > layout.entries()[b].shape.count();
  });
  for (std::size_t k = 0; k < std::min(kMostCurves, largest.size()); ++k)
    add(layout.entries()[largest[k]].name, [i = largest[k]](const TaylorPoint& point) { return point.tensors[i]; });
  return plot;
}

}  // namespace

int probe_taylor(const ProbeTaylorOptions& options, const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // before the first thread
  const Plan plan = make_plan(options.run, Unfit::refuse);
  require(plan.options.engine == "simulate", "--engine {}: this is measured in the simulator; leave out --engine",
          plan.options.engine);
  if (!options.out.empty()) RunFolder::check(options.out);
  LoadedData data;
  const ClassificationTask task = make_task(plan, data.get(plan.options));
  const Job job = make_job(plan, task);
  const int64_t every = options.every.value_or(std::max<int64_t>(1, job.gradients / kPoints));

  History history;
  std::vector<TaylorPoint> points;
  {
    Progress progress("", job.gradients, task.batches_per_epoch());
    Probing probing(job, every, progress, interrupt);
    history = run_engine(plan, job, probing);
    points = probing.points();
  }
  require(!points.empty(), "probe taylor: the run ended before its first update; {}", history.message);
  const RunFolder folder(options.out.empty() ? fresh_run_path("runs", "taylor") : std::filesystem::path(options.out));
  const nlohmann::ordered_json config{{"command", command_line}};
  write_file(folder.file("config.json"), config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  write_file(folder.file("taylor.csv"), csv_of(points, task.layout()));
  say(fmt::format("{}: {} late gradients, their distance to the gradient at theta / its norm\n{}", describe(plan),
                  points.size(), table_of(points, task.layout())));
  say("best factor: the compensation times this would have been nearest (so much larger lambda might be)\n");
  if (history.status == History::Status::diverged) say(fmt::format("diverged {}\n", history.message));
  if (gnuplot_found())
    draw(picture_of(points, task.layout(), describe(plan)), folder.file("taylor.svg"));
  else
    say("no picture: there is no gnuplot; run apt-get install --no-install-recommends gnuplot-nox\n");
  say(fmt::format("results: {}\n", folder.path().string()));
  return interrupt.exit_code();
}

}  // namespace tg
