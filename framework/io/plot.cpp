#include "framework/io/plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "framework/core/error.h"

namespace tg {
namespace {

using Points = std::vector<std::pair<double, double>>;

// Paul Tol's bright colours: told apart by most colour-blind readers.
constexpr const char* kColours[] = {"#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB"};

// The rows of bars of a plot that has segments; 0 if it has none.
int rows_of(const Plot& plot) {
  double rows = 0;
  for (const Series& series : plot.series)
    if (series.style == Series::Style::segments)
      for (const double y : series.y) rows = std::max(rows, y + 1);
  return static_cast<int>(rows);
}

// Rows stand apart, and whole numbers at them.
std::string y_axis_of(const Plot& plot, int rows) {
  if (rows > 0) return fmt::format("set yrange [-0.7 : {}]\nset ytics {}\n", rows - 0.3, (rows + 9) / 10);
  return plot.log_y ? "set logscale y\nset format y '%g'\n" : "set yrange [0 < * : *]\n";
}

std::string style_of(Series::Style style, const char* colour, int rows) {
  switch (style) {
    case Series::Style::lines: return fmt::format("lines linewidth 2 linecolor rgb '{}'", colour);
    case Series::Style::lines_and_points:
      return fmt::format("linespoints linewidth 2 pointtype 7 pointsize 0.4 linecolor rgb '{}'", colour);
    case Series::Style::segments:
      return fmt::format("lines linewidth {:.1f} linecolor rgb '{}'", std::clamp(230.0 / rows, 1.0, 14.0), colour);
    case Series::Style::boxes: break;
  }
  return fmt::format("boxes linecolor rgb '{}' fillstyle solid 0.6", colour);
}

Points points_of(const Series& series, bool log_y) {
  require(series.x.size() == series.y.size(), "plot: {} has {} x and {} y", series.name, series.x.size(),
          series.y.size());
  Points points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool drawable = std::isfinite(series.x[i]) && std::isfinite(series.y[i]) && (!log_y || series.y[i] > 0);
    if (drawable) points.emplace_back(series.x[i], series.y[i]);
  }
  return points;
}

// One line each; a bar is followed by an empty line, which parts it from the next.
std::string text_of(const Points& points, bool bars) {
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i)
    text += fmt::format("{} {}\n{}", points[i].first, points[i].second, bars && i % 2 == 1 ? "\n" : "");
  return text;
}

}  // namespace

void draw(const Plot& plot, const std::filesystem::path& path) {
  const int rows = rows_of(plot);
  std::string list, data;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    const Points points = points_of(series, plot.log_y);
    if (points.empty()) continue;  // its colour is not given to another: it may be drawn in the picture beside this
    data += fmt::format("$points{} << end_of_points\n{}end_of_points\n", i,
                        text_of(points, series.style == Series::Style::segments));
    list += fmt::format("{} $points{} using 1:2 with {} {}", list.empty() ? "plot" : ",", i,
                        style_of(series.style, kColours[i % std::size(kColours)], rows),
                        series.name.empty() ? "notitle" : "title " + gnuplot_text(series.name));
  }
  require(!list.empty(), "plot: {} has no point to draw", plot.title);
  draw_svg(gnuplot_head(plot.title, plot.x_label, plot.y_label) + "set grid linecolor rgb '#dddddd'\n" +
               y_axis_of(plot, rows) + data + list + "\n",
           path);
}

Series thin(const Series& series, std::size_t most) {
  const std::size_t group = (series.x.size() + most - 1) / std::max<std::size_t>(most, 1);
  if (group <= 1) return series;
  Series result{series.name, {}, {}, series.style};
  for (std::size_t begin = 0; begin < series.x.size(); begin += group) {
    const std::size_t end = std::min(begin + group, series.x.size());
    double x = 0, y = 0;
    for (std::size_t i = begin; i < end; ++i) {
      x += series.x[i];
      y += series.y[i];
    }
    result.x.push_back(x / static_cast<double>(end - begin));
    result.y.push_back(y / static_cast<double>(end - begin));
  }
  return result;
}

Series histogram(const std::string& name, const std::vector<int64_t>& values) {
  Series result{name, {}, {}, Series::Style::boxes};
  if (values.empty()) return result;
  constexpr int64_t kMostBoxes = 64;
  const int64_t largest = *std::max_element(values.begin(), values.end());
  const int64_t width = largest / kMostBoxes + 1;  // numbers in a box
  std::vector<int64_t> counts(static_cast<std::size_t>(largest / width + 1));
  for (const int64_t value : values) ++counts[static_cast<std::size_t>(value / width)];
  for (std::size_t box = 0; box < counts.size(); ++box) {
    result.x.push_back(static_cast<double>(static_cast<int64_t>(box) * width) + static_cast<double>(width - 1) / 2);
    result.y.push_back(100 * static_cast<double>(counts[box]) / static_cast<double>(values.size()));
  }
  return result;
}

}  // namespace tg
