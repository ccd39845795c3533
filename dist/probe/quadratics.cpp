#include "dist/probe/quadratics.h"

#include <algorithm>
#include <cmath>

#include "dist/simulate/simulator.h"

namespace tg {
namespace {

constexpr double kRate = 0.1;   // eta, for all coordinates; the curvatures h are chosen to make up each eta h
constexpr double kRange = 1e3;  // w_i is watched while its size is within 1/1000 to 1000 times that at the start
constexpr int kCloser = 32;     // rates tried between the last stable one and the next
constexpr int64_t kShortest = 4000, kPerWorker = 200;  // gradients of a run

int64_t gradients_of(int workers) { return kShortest + kPerWorker * workers; }

// The largest size of w_i at `batches` batches from `first` on.
double largest(const Quadratics& task, int64_t i, int64_t first, int64_t batches) {
  double size = 0;
  for (int64_t b = first; b < first + batches; ++b) {
    const double here = task.size(b, i);
    if (!(here <= size)) size = here;  // a NaN is the largest
  }
  return size;
}

// The factor per gradient by which w_i grows in the long run. Let `end` be the batch at which w_i leaves the range, or
// the last. In the first half up to `end` all but the largest eigenvalue dies out; the factor is that of the second
// half. As w_i swings through 0, its size is the largest over a window of batches.
double growth_factor(const Quadratics& task, int64_t i, int workers) {
  const int64_t batches = task.batches_per_epoch();
  const int64_t window = std::min<int64_t>(4 * workers + 60, batches / 8);
  int64_t end = 0;
  while (end + window < batches) {
    if (!(task.size(end, i) <= kRange)) break;
    if (end % window == 0 && largest(task, i, end, window) < 1 / kRange) break;
    ++end;
  }
  const double last = task.size(end, i);
  if (!(last <= kRange)) {  // so fast that w grew from the start
    const double grown = std::isfinite(last) ? last : kRange;
    return std::pow(grown, 1 / static_cast<double>(std::max<int64_t>(end, 1)));
  }
  const double at_end = largest(task, i, end, std::min(window, batches - end));
  const int64_t middle = end / 2;
  const double at_middle = largest(task, i, middle, std::min(window, std::max<int64_t>(end - middle, 1)));
  if (at_middle == 0) return 0;
  return std::pow(at_end / at_middle, 1 / static_cast<double>(std::max<int64_t>(end - middle, 1)));
}

std::vector<double> growth_of(const Rule& rule, int workers, const std::vector<double>& rates, double start) {
  std::vector<double> curvatures;
  for (const double rate : rates) curvatures.push_back(rate / kRate);
  const Quadratics task(std::move(curvatures), start, gradients_of(workers));
  const auto codec = [](const Layout& layout) { return make_none_codec(layout); };
  const Job job{.task = &task,
                .rule = &rule,
                .codec_up = codec,
                .codec_down = codec,
                .schedule = Schedule({.peak = kRate}),
                .workers = workers,
                // Some more, so that all the batches that are remembered have arrived: some come after later ones.
                .gradients = task.batches_per_epoch() + 2 * workers * rule.batches()};
  Observer nobody;
  simulate(job, {.clock = {.mean = 1, .variation = 0}, .link = {}, .pool_threads = 1}, nobody);
  std::vector<double> growth;
  for (size_t i = 0; i < rates.size(); ++i) growth.push_back(growth_factor(task, static_cast<int64_t>(i), workers));
  return growth;
}

}  // namespace

Quadratics::Quadratics(std::vector<double> curvatures, double start, int64_t batches)
    : curvatures_(std::move(curvatures)), start_(start), batches_(batches) {
  require(start != 0 && std::isfinite(start), "quadratics: a start of {}; w must have somewhere to come from", start);
  layout_.add("w", Shape{std::ssize(curvatures_)});
  taken_at_.resize(curvatures_.size() * static_cast<size_t>(batches));
}

void Quadratics::initial(uint64_t, Span out) const {
  std::fill_n(out.begin(), curvatures_.size(), static_cast<float>(start_));
}

double Quadratics::gradient(View at, uint64_t, int64_t batch, const Stream&, Span out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  for (int64_t i = 0; i < std::ssize(curvatures_); ++i)
    out[i] = static_cast<float>(curvatures_[static_cast<size_t>(i)]) * at[i];
  if (batch < batches_)
    std::copy_n(at.begin(), curvatures_.size(), &taken_at_[static_cast<size_t>(batch) * curvatures_.size()]);
  return 0;
}

double Quadratics::size(int64_t batch, int64_t i) const {
  return std::abs(
             static_cast<double>(taken_at_[static_cast<size_t>(batch) * curvatures_.size() + static_cast<size_t>(i)])) /
         std::abs(start_);
}

std::vector<double> growth_factors(const Rule& rule, int workers, const std::vector<double>& rates, double start) {
  if (rule.shardable()) return growth_of(rule, workers, rates, start);
  std::vector<double> growth;  // a run for each rate, since in this rule one coordinate's step depends on the others
  for (const double rate : rates) growth.push_back(growth_of(rule, workers, {rate}, start).front());
  return growth;
}

double largest_stable_rate(const Rule& rule, int workers, const std::vector<double>& rates,
                           const std::vector<double>& growth) {
  require(!rates.empty() && rates.size() == growth.size(), "largest_stable_rate: {} rates and {} growth factors",
          rates.size(), growth.size());
  const auto grows = [](double factor) { return !(factor <= 1); };
  const auto first = std::find_if(growth.begin(), growth.end(), grows);
  if (first == growth.begin()) return 0;
  if (first == growth.end()) return rates.back();
  const auto above = static_cast<size_t>(first - growth.begin());
  std::vector<double> between;
  for (int i = 0; i < kCloser; ++i)
    between.push_back(rates[above - 1] * std::pow(rates[above] / rates[above - 1], (i + 0.5) / kCloser));
  const std::vector<double> closer = growth_factors(rule, workers, between);
  const auto stable = std::find_if(closer.begin(), closer.end(), grows) - closer.begin();
  return rates[above - 1] * std::pow(rates[above] / rates[above - 1], static_cast<double>(stable) / kCloser);
}

}  // namespace tg
