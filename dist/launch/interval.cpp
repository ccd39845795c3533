#include "dist/launch/interval.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>

namespace tg {
namespace {

// P(|T| <= t) for Student's T with so many degrees of freedom, t = sqrt(degrees) tan(angle): a finite sum (Abramowitz &
// Stegun, Handbook of Mathematical Functions, 26.7.3 for odd degrees and 26.7.4 for even ones).
double within(double angle, int degrees) {
  const double square = std::cos(angle) * std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? std::cos(angle) : 1, sum = 0;
  for (int k = odd ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= square * (k - 1) / k;
  }
  return odd ? (angle + std::sin(angle) * sum) * 2 / std::numbers::pi : std::sin(angle) * sum;
}

double mean_of(const double* begin, const double* end) {
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

}  // namespace

double student_t(int degrees) {
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (within(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return std::sqrt(degrees) * std::tan(low);
}

Interval interval_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values.data(), values.data() + values.size());
  if (values.size() < 2) return {mean, std::numeric_limits<double>::quiet_NaN()};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, student_t(static_cast<int>(values.size()) - 1) * std::sqrt(squares / (n - 1) / n)};
}

Interval interval_of_series(const std::vector<double>& values) {
  const std::size_t n = values.size();
  const double mean = mean_of(values.data(), values.data() + n);
  if (n < kBlocks * kLeastBlock) return {mean, std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> means;
  for (std::size_t b = 0; b < kBlocks; ++b)
    means.push_back(mean_of(values.data() + b * n / kBlocks, values.data() + (b + 1) * n / kBlocks));
  return {mean, interval_of(means).half};
}

}  // namespace tg
