#include "dist/launch/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tg {

std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  std::size_t left_columns) {
  std::vector<std::size_t> widths(header.size());
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  measure(header);
  for (const auto& row : rows) measure(row);

  std::string text;
  const auto write = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < left_columns ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  write(header);
  for (const auto& row : rows) write(row);
  return text;
}

std::string mean_and_deviation(const std::vector<double>& values, int digits) {
  double sum = 0, squares = 0, n = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++n;
  }
  if (n == 0) return "-";
  const double mean = sum / n;
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  }
  const std::string text = fmt::format("{:.{}f}", mean, digits);
  return n < 2 ? text : fmt::format("{} +- {:.{}f}", text, std::sqrt(squares / (n - 1)), digits);
}

std::string quantity(double number) {
  const char* const units[] = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t unit = 0;
  for (; number >= 999.95 && unit + 1 < std::size(units); ++unit) number /= 1000;
  return unit == 0 ? fmt::format("{:.4g}", number) : fmt::format("{:#.4g}{}", number, units[unit]);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace tg
