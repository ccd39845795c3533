// `tardygrad stability`: at which rates a rule converges, with how many workers.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "dist/launch/commands.h"
#include "dist/launch/interrupt.h"
#include "dist/launch/recorder.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "dist/probe/quadratics.h"
#include "dist/probe/sharpness.h"
#include "framework/core/error.h"
#include "framework/io/csv.h"
#include "framework/io/file.h"
#include "framework/io/heat_map.h"
#include "optim/registry.h"

namespace tg {
namespace {

// The products eta h (learning rate x curvature) of a map: 64 of them, each 1.16 times the one before.
constexpr int kRates = 64;
constexpr double kLowest = 0.0005, kHighest = 5;

constexpr int kSharpnessBatches = 8;
// With --train: mlp is trained at these multiples of the largest stable rate, until it fails.
constexpr double kMultiples[] = {0.25, 0.5, 1, 2, 4, 8, 16, 32};
constexpr double kFails = 50;  // percent of the test set wrong, from which on a run may have failed

std::vector<double> rates() {
  std::vector<double> rates;
  for (int i = 0; i < kRates; ++i) rates.push_back(kLowest * std::pow(kHighest / kLowest, i / (kRates - 1.0)));
  return rates;
}

struct Column {
  int workers = 1;
  std::vector<double> growth;  // growth_factors(), by rate
  double stable = 0;           // the largest rate at which it does not grow
};

struct Trained {
  int workers = 1;
  double multiple = 0;  // of the largest stable rate
  double learning_rate = 0;
  double test_error_percent = 0;  // NaN if it diverged
  bool fails = false;             // by too high a rate
};

struct Map {
  std::string rule;
  std::vector<Column> columns;
  std::vector<Trained> runs;
};

std::vector<Column> columns_of(const std::string& spec, const std::vector<int>& workers, const Interrupt& interrupt) {
  const std::unique_ptr<Rule> rule = make_rule(Spec::parse(spec, rule_infos(), "rule"));
  std::vector<Column> columns;
  for (const int n : workers) {
    if (interrupt.signal() != 0 || (rule->sequential() && n > 1)) continue;
    columns.push_back({n, growth_factors(*rule, n, rates()), 0});
    columns.back().stable = largest_stable_rate(*rule, n, rates(), columns.back().growth);
  }
  return columns;
}

// Real training beside the quadratics: of the default model and data, for so many epochs.
class Training {
 public:
  Training(double epochs, const std::string& data_dir, const Interrupt& interrupt)
      : epochs_(epochs), data_dir_(data_dir), interrupt_(interrupt) {}

  // Where sgd, at its default rate, has come to after these epochs: the curvature that the others meet.
  double sharpness() {
    const Outcome sgd = train("sgd", 1, std::nullopt);
    const Plan plan = plan_of("sgd", 1, std::nullopt);
    const ClassificationTask task = make_task(plan, data_.get(plan.options));
    return tg::sharpness(task, {sgd.theta.data(), std::ssize(sgd.theta), kCpu}, plan.options.seed, kSharpnessBatches);
  }

  // A column's runs, the rate doubled from one to the next, up to the first that fails. A low rate may leave as much
  // wrong because it has not come far, so one that does not diverge fails only if a lower rate came as far.
  void run(const std::string& rule, const Column& column, double sharpness, std::vector<Trained>& runs) {
    double best = std::numeric_limits<double>::infinity();
    for (const double multiple : kMultiples) {
      if (interrupt_.signal() != 0) return;
      const double learning_rate = multiple * column.stable / sharpness;
      const double error = train(rule, column.workers, learning_rate).test_error_percent;
      const bool fails = std::isnan(error) || (error >= kFails && error >= best);
      runs.push_back({column.workers, multiple, learning_rate, error, fails});
      if (fails) return;
      best = std::min(best, error);
    }
  }

 private:
  struct Outcome {
    std::vector<float> theta;
    double test_error_percent;
  };

  Plan plan_of(const std::string& rule, int workers, std::optional<double> learning_rate) const {
    RunOptions options;
    options.data_dir = data_dir_;
    options.rule = rule;
    options.workers = workers;
    options.epochs = epochs_;
    options.evaluate_every = epochs_;
    options.learning_rate = learning_rate;
    return make_plan(std::move(options), Unfit::refuse);
  }

  Outcome train(const std::string& rule, int workers, std::optional<double> learning_rate) {
    const Plan plan = plan_of(rule, workers, learning_rate);
    const ClassificationTask task = make_task(plan, data_.get(plan.options));
    const Job job = make_job(plan, task);
    Progress progress(fmt::format("{}, rate {:.3g}: ", describe(plan), *plan.options.learning_rate), job.gradients,
                      task.batches_per_epoch());
    Listener listener(progress, interrupt_);
    const History history = run_engine(plan, job, listener);
    const bool finished = history.status == History::Status::finished;
    return {history.theta, finished ? history.evaluations.back().test_error_percent : std::nan("")};
  }

  double epochs_;
  std::string data_dir_;
  const Interrupt& interrupt_;
  LoadedData data_;
};

std::string csv_of(const std::vector<Map>& maps) {
  std::string text = "rule,workers,rate,growth\n";
  const std::vector<double> products = rates();
  for (const Map& map : maps)
    for (const Column& column : map.columns)
      for (std::size_t i = 0; i < products.size(); ++i)
        text +=
            csv_line({map.rule, std::to_string(column.workers), csv_number(products[i]), csv_number(column.growth[i])});
  return text;
}

std::string csv_of_runs(const std::vector<Map>& maps, double sharpness) {
  std::string text = "rule,workers,learning_rate,rate,multiple,test_error_percent,fails\n";
  for (const Map& map : maps)
    for (const Trained& run : map.runs)
      text += csv_line({map.rule, std::to_string(run.workers), csv_number(run.learning_rate),
                        csv_number(run.learning_rate * sharpness), csv_number(run.multiple),
                        csv_number(run.test_error_percent), run.fails ? "1" : "0"});
  return text;
}

HeatMap picture_of(const Map& map, double sharpness) {
  HeatMap picture{.title = map.rule + " on quadratics with late gradients",
                  .x_label = "workers N",
                  .y_label = "learning rate x curvature",
                  .colours = "ln of the growth over N gradients",
                  .columns = {},
                  .rows = rates(),
                  .values = {},
                  .line_name = "largest stable rate",
                  .line = {},
                  .ring_name = "mlp learns",
                  .cross_name = "mlp fails",
                  .marks = {}};
  std::map<int, std::size_t> place;  // by workers
  for (const Column& column : map.columns) {
    place[column.workers] = picture.columns.size();
    picture.columns.push_back(std::to_string(column.workers));
    picture.line.push_back(column.stable);
    std::vector<double> values;
    for (const double growth : column.growth) values.push_back(column.workers * std::log(growth));
    picture.values.push_back(std::move(values));
  }
  for (const Trained& run : map.runs)
    picture.marks.push_back({place.at(run.workers), run.learning_rate * sharpness, run.fails});
  return picture;
}

std::string edge_of(const Map&, const Column& column) {
  return fmt::format("{}{:.3g}", column.stable >= kHighest ? ">" : "", column.stable);
}

// At which multiples of the edge real runs came furthest, and failed.
std::string border_of(const Map& map, const Column& column) {
  const Trained *best = nullptr, *last = nullptr;
  for (const Trained& run : map.runs) {
    if (run.workers != column.workers) continue;
    if (!run.fails && (best == nullptr || run.test_error_percent < best->test_error_percent)) best = &run;
    last = &run;
  }
  if (last == nullptr) return "-";
  return fmt::format("{}, {}", best == nullptr ? "-" : fmt::format("{:g}", best->multiple),
                     last->fails ? fmt::format("{:g}", last->multiple) : fmt::format(">{:g}", last->multiple));
}

// `cell`: the text for a rule and a number of workers.
std::string table_of(const std::vector<Map>& maps, const std::vector<int>& workers,
                     const std::function<std::string(const Map&, const Column&)>& cell) {
  std::vector<std::string> header{"rule"};
  for (const int n : workers) header.push_back(fmt::format("N={}", n));
  std::vector<std::vector<std::string>> rows;
  for (const Map& map : maps) {
    std::vector<std::string> row{map.rule};
    for (const int n : workers) {
      const auto column =
          std::find_if(map.columns.begin(), map.columns.end(), [n](const Column& c) { return c.workers == n; });
      row.push_back(column == map.columns.end() ? "-" : cell(map, *column));
    }
    rows.push_back(std::move(row));
  }
  return table(header, rows, 1);
}

}  // namespace

int stability(const StabilityOptions& options, const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // before the first thread
  for (const std::string& rule : options.rules) make_rule(Spec::parse(rule, rule_infos(), "rule"));
  if (!options.out.empty()) RunFolder::check(options.out);

  std::vector<Map> maps;
  for (const std::string& rule : options.rules)
    maps.push_back({rule, columns_of(rule, options.workers, interrupt), {}});
  if (interrupt.signal() != 0) return interrupt.exit_code();
  say("the largest stable learning rate x curvature, N workers in turn:\n" + table_of(maps, options.workers, edge_of));

  const RunFolder folder(options.out.empty() ? fresh_run_path("runs", "stability")
                                             : std::filesystem::path(options.out));
  double sharpness = 0;
  if (options.epochs > 0) {
    Training training(options.epochs, options.data_dir, interrupt);
    sharpness = training.sharpness();
    say(
        fmt::format("mlp's sharpness after {} epochs of sgd: {:.3g}; a rate of x here is a learning rate of x / {:.3g} "
                    "there\n",
                    options.epochs, sharpness, sharpness));
    require(sharpness > 0, "stability: the loss of mlp is flat after {} epochs; give --train more", options.epochs);
    for (Map& map : maps)
      for (const Column& column : map.columns) training.run(map.rule, column, sharpness, map.runs);
    if (interrupt.signal() == 0)
      say(fmt::format("mlp: at which multiple of that rate it is best after {} epochs, and at which it fails:\n{}",
                      options.epochs, table_of(maps, options.workers, border_of)));
  }
  if (interrupt.signal() != 0) return interrupt.exit_code();

  nlohmann::ordered_json config{{"command", command_line}};
  if (sharpness > 0) config["sharpness"] = sharpness;
  write_file(folder.file("config.json"), config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  write_file(folder.file("stability.csv"), csv_of(maps));
  if (sharpness > 0) write_file(folder.file("runs.csv"), csv_of_runs(maps, sharpness));
  for (const Map& map : maps) {
    if (!gnuplot_found()) {
      say("no pictures: there is no gnuplot; run apt-get install --no-install-recommends gnuplot-nox\n");
      break;
    }
    if (!map.columns.empty()) draw(picture_of(map, sharpness), folder.file(file_name_of(map.rule) + ".svg"));
  }
  say(fmt::format("results: {}\n", folder.path().string()));
  return 0;
}

}  // namespace tg
