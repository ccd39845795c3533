// `tardygrad probe hessian`: the diagonal of the Hessian beside lambda g (.) g, which DC-ASGD puts in its place.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dist/launch/commands.h"
#include "dist/launch/interrupt.h"
#include "dist/launch/recorder.h"
#include "dist/launch/run.h"
#include "dist/launch/table.h"
#include "framework/core/error.h"
#include "framework/io/csv.h"
#include "framework/io/file.h"
#include "framework/nn/models/models.h"
#include "framework/ops/loss.h"

namespace tg {
namespace {

constexpr int64_t kMostParameters = 20'000;  // two gradients each
constexpr double kStep = 1e-4;               // of the differences, in float64

// The gradient of the mean loss of some samples, in float64 on the plain backend.
class ExactGradient {
 public:
  ExactGradient(Model& model, const std::vector<float>& theta)
      : model_(model), flat_(Tensor::zeros({model.layout().size()}, DType::f64, kPlain)) {
    for (size_t i = 0; i < theta.size(); ++i) values()[i] = static_cast<double>(theta[i]);
    model_.bind(flat_);
  }

  double* values() { return flat_.data<double>(); }

  std::vector<double> operator()(const Batch& samples) {
    model_.bind(flat_);  // new leaves: the values may have changed since the last time
    const Tensor x = samples.x.to(DType::f64).to(kPlain);
    const Tensor loss = cross_entropy(model_(x, {.training = true}), samples.y.to(kPlain));
    const Parameters& parameters = model_.parameters();
    const std::vector<Tensor> parts =
        gradients(loss, parameters.leaves, Tensor::full(loss.shape(), 1, DType::f64, kPlain));
    std::vector<double> whole(static_cast<size_t>(parameters.layout.size()));
    for (size_t p = 0; p < parts.size(); ++p) {
      const Layout::Entry& entry = parameters.layout.entries()[p];
      for (int64_t i = 0; i < entry.shape.count(); ++i)
        whole[static_cast<size_t>(entry.offset + i)] = parts[p].data<double>()[i];
    }
    return whole;
  }

 private:
  Model& model_;
  Tensor flat_;
};

// How well lambda G fits the diagonal H, where G is the mean of g (.) g over batches of one size.
struct Fit {
  int64_t batch = 0;
  double correlation = 0, best_lambda = 0, error = 0;  // error: |best_lambda G - H| / |H|
  std::vector<double> squares;                         // G by coordinate
};

// Up to `count` places of the flat vector that hold parameters (not the gaps between tensors), drawn from the seed
// without repetition, in growing order.
std::vector<int64_t> draw_coordinates(const Layout& layout, int64_t count, uint64_t seed) {
  std::vector<int64_t> all;
  for (const Layout::Entry& entry : layout.entries())
    for (int64_t i = 0; i < entry.shape.count(); ++i) all.push_back(entry.offset + i);
  Generator draw(Stream(seed).split("hessian"));
  for (size_t i = 0; i < std::min(all.size(), static_cast<size_t>(count)); ++i)
    std::swap(all[i], all[i + static_cast<size_t>(draw.below(all.size() - i))]);
  all.resize(std::min(all.size(), static_cast<size_t>(count)));
  std::sort(all.begin(), all.end());
  return all;
}

// The Hessian's diagonal at the coordinates: central differences of the gradient. Fewer if the user interrupts.
std::vector<double> diagonal(ExactGradient& gradient, const Batch& samples, const std::vector<int64_t>& coordinates,
                             const Interrupt& interrupt) {
  std::vector<double> diagonal;
  for (const int64_t i : coordinates) {
    if (interrupt.signal() != 0) break;
    double& value = gradient.values()[i];
    const double before = value;
    value = before + kStep;
    const double above = gradient(samples)[static_cast<size_t>(i)];
    value = before - kStep;
    const double below = gradient(samples)[static_cast<size_t>(i)];
    value = before;
    diagonal.push_back((above - below) / (2 * kStep));
  }
  return diagonal;
}

// Least squares: best_lambda is <H, G> / <G, G>.
Fit fit(const std::vector<double>& hessian, std::vector<double> squares, int64_t batch) {
  double h = 0, g = 0, hh = 0, gg = 0, hg = 0;
  for (size_t i = 0; i < hessian.size(); ++i) {
    h += hessian[i];
    g += squares[i];
    hh += hessian[i] * hessian[i];
    gg += squares[i] * squares[i];
    hg += hessian[i] * squares[i];
  }
  const auto n = static_cast<double>(hessian.size());
  const double deviations = std::sqrt((n * hh - h * h) * (n * gg - g * g));
  Fit result{batch, deviations > 0 ? (n * hg - h * g) / deviations : 0, gg > 0 ? hg / gg : 0, 0, std::move(squares)};
  double error = 0;
  for (size_t i = 0; i < hessian.size(); ++i) {
    const double d = result.best_lambda * result.squares[i] - hessian[i];
    error += d * d;
  }
  result.error = hh > 0 ? std::sqrt(error / hh) : 0;
  return result;
}

// The mean of g (.) g at the coordinates, over batches of `batch` that together have `samples` samples: those that the
// first epoch begins with, the same for every batch size.
std::vector<double> mean_squares(ExactGradient& gradient, const Dataset& train, const std::vector<int64_t>& coordinates,
                                 int64_t batch, int64_t samples, uint64_t seed) {
  const Batches batches(train, batch, seed);
  const int64_t count = samples / batch;
  std::vector<double> squares(coordinates.size());
  for (int64_t b = 0; b < count; ++b) {
    const std::vector<double> g = gradient(batches.get(b));
    for (size_t i = 0; i < coordinates.size(); ++i) {
      const double value = g[static_cast<size_t>(coordinates[i])];
      squares[i] += value * value / static_cast<double>(count);
    }
  }
  return squares;
}

std::string csv_of(const std::vector<int64_t>& coordinates, const std::vector<double>& hessian,
                   const std::vector<Fit>& fits, const Layout& layout) {
  std::string csv = "parameter,hessian";
  for (const Fit& f : fits) csv += fmt::format(",g2_batch_{}", f.batch);
  csv += "\n";
  for (size_t i = 0; i < coordinates.size(); ++i) {
    const auto& entries = layout.entries();
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Layout::Entry& e) {
      return coordinates[i] < e.offset + e.shape.count();
    });
    std::vector<std::string> fields{fmt::format("{}[{}]", entry->name, coordinates[i] - entry->offset),
                                    csv_number(hessian[i])};
    for (const Fit& f : fits) fields.push_back(csv_number(f.squares[i]));
    csv += csv_line(fields);
  }
  return csv;
}

std::string table_of(const std::vector<Fit>& fits) {
  std::vector<std::vector<std::string>> rows;
  for (const Fit& f : fits)
    rows.push_back({std::to_string(f.batch), fmt::format("{:.3f}", f.correlation), fmt::format("{:.3g}", f.best_lambda),
                    fmt::format("{:.3f}", f.error)});
  return table({"b", "correlation", "best lambda", "error"}, rows, 0);
}

}  // namespace

int probe_hessian(const ProbeHessianOptions& options, const std::vector<std::string>& command_line) {
  const Interrupt interrupt;  // before the first thread
  const Plan plan = make_plan(options.run, Unfit::refuse);
  for (const int64_t batch : options.batches)
    require(options.samples % batch == 0, "--batches {}: {} --samples are no whole number of them", batch,
            options.samples);
  if (!options.out.empty()) RunFolder::check(options.out);
  LoadedData data;
  const Splits& splits = data.get(plan.options);
  const ClassificationTask task = make_task(plan, splits);
  require(options.samples <= splits.train.size(), "--samples {}: the training set has {}", options.samples,
          splits.train.size());
  require(task.layout().count() <= kMostParameters,
          "--model {}: it has {} parameters; this is for small ones, up to {}: try mlp:hidden=16", plan.options.model,
          task.layout().count(), kMostParameters);
  const Job job = make_job(plan, task);
  History history;
  {
    Progress progress("", job.gradients, task.batches_per_epoch());
    Listener listener(progress, interrupt);
    history = run_engine(plan, job, listener);
  }
  if (interrupt.signal() != 0) return interrupt.exit_code();
  require(history.status == History::Status::finished, "probe hessian: the run {}", history.message);

  Model model = make_model(plan.model_spec, Shape{splits.train.height, splits.train.width, splits.train.channels},
                           splits.train.classes());
  ExactGradient gradient(model, history.theta);
  const std::vector<int64_t> coordinates = draw_coordinates(task.layout(), options.coordinates, plan.options.seed);
  const std::vector<double> hessian =
      diagonal(gradient, Batches(splits.train, options.samples, plan.options.seed).get(0), coordinates, interrupt);
  std::vector<Fit> fits;
  for (const int64_t batch : options.batches) {
    if (interrupt.signal() != 0) return interrupt.exit_code();
    fits.push_back(fit(
        hessian, mean_squares(gradient, splits.train, coordinates, batch, options.samples, plan.options.seed), batch));
  }

  const RunFolder folder(options.out.empty() ? fresh_run_path("runs", "hessian") : std::filesystem::path(options.out));
  const nlohmann::ordered_json config{{"command", command_line}};
  write_file(folder.file("config.json"), config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  write_file(folder.file("hessian.csv"), csv_of(coordinates, hessian, fits, task.layout()));
  say(
      fmt::format("{} after {} epochs: the Hessian's diagonal at {} of {} coordinates, {} samples, beside the mean of "
                  "g (.) g over batches of b\n{}",
                  plan.options.model, plan.options.epochs, coordinates.size(), task.layout().count(), options.samples,
                  table_of(fits)));
  say("best lambda: of lambda g (.) g, nearest to the diagonal H; error: what is then left of it, |lambda G - H| / "
      "|H|\n");
  say(fmt::format("results: {}\n", folder.path().string()));
  return 0;
}

}  // namespace tg
