#include "framework/io/plot.h"

#include <gnuplot-iostream.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "framework/core/error.h"
#include "framework/io/file.h"

namespace tg {
namespace {

namespace fs = std::filesystem;
using Points = std::vector<std::pair<double, double>>;

// Paul Tol's bright colours: told apart by most colour-blind readers.
constexpr const char* kColours[] = {"#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB"};

// In single quotes, within which only the quote itself is special: `quote` is how it is written there.
std::string quoted(const std::string& text, const char* quote) {
  std::string result = "'";
  for (const char c : text) c == '\'' ? result += quote : result += c;
  return result + "'";
}
std::string quoted(const std::string& text) { return quoted(text, "''"); }  // for gnuplot
std::string shell_quoted(const std::string& text) { return quoted(text, "'\\''"); }

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

std::vector<Points> pairs_of(const Points& points) {
  std::vector<Points> pairs;
  for (std::size_t i = 0; i + 1 < points.size(); i += 2) pairs.push_back({points[i], points[i + 1]});
  return pairs;
}

// A folder for gnuplot's picture and its words, gone at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    require(!error, "plot: no folder for temporary files ({}); set TMPDIR to one", error.message());
    std::string name = (parent / "tardygrad-plot-XXXXXX").string();
    require(::mkdtemp(name.data()) != nullptr, "plot: cannot make a folder in {}", parent.string());
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path file(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

bool gnuplot_found() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((fs::path(folder) / "gnuplot").c_str(), X_OK) == 0) return true;
  }
  return false;
}

void draw(const Plot& plot, const fs::path& path) {
  const ScratchFolder scratch;
  const fs::path picture = scratch.file("picture.svg"), words = scratch.file("words.txt");
  const int rows = rows_of(plot);
  std::string list;
  std::vector<std::pair<Series::Style, Points>> points;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const Series& series = plot.series[i];
    Points drawable = points_of(series, plot.log_y);
    if (drawable.empty()) continue;  // its colour is not given to another: it may be drawn in the picture beside this
    points.emplace_back(series.style, std::move(drawable));
    list += fmt::format("{} '-' using 1:2 with {} {}", list.empty() ? "plot" : ",",
                        style_of(series.style, kColours[i % std::size(kColours)], rows),
                        series.name.empty() ? "notitle" : "title " + quoted(series.name));
  }
  require(!points.empty(), "plot: {} has no point to draw", plot.title);
  {
    Gnuplot gnuplot("gnuplot 2> " + shell_quoted(words.string()));
    gnuplot << "set terminal svg size 860,520 font 'sans-serif,14' noenhanced background '#ffffff'\n"
            << "set output " << quoted(picture.string()) << "\nset title " << quoted(plot.title) << "\nset xlabel "
            << quoted(plot.x_label) << "\nset ylabel " << quoted(plot.y_label)
            << "\nset grid linecolor rgb '#dddddd'\nset tics nomirror\nset border 3\n"
            << "set key outside below\n"
            << y_axis_of(plot, rows) << list << "\n";
    for (const auto& [style, p] : points)
      style == Series::Style::segments ? gnuplot.send2d(pairs_of(p)) : gnuplot.send1d(p);  // gaps between the pairs
    gnuplot << "unset output\n" << std::flush;
  }  // the destructor waits for gnuplot to end
  const std::string drawn = contents(picture);
  if (drawn.find("</svg>") == std::string::npos) {
    fail("plot: gnuplot drew no picture for {}: {}", path.string(), contents(words));
  }
  write_file(path, drawn);
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
