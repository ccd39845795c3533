#pragma once
// Pictures of curves and histograms, drawn by gnuplot as SVG.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/io/gnuplot.h"

namespace tg {

struct Series {
  // segments: each two points, from an even place on, are joined by a bar; y is the number of a row.
  enum class Style { lines, lines_and_points, boxes, segments };
  std::string name;  // in the legend; empty: none
  std::vector<double> x, y;
  Style style = Style::lines;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool log_y = false;  // points that are not above zero are then left out
};

// Draws `plot` to `path`, which gets the whole picture or stays as it was. Points that are not finite are left out.
// Throws Error with gnuplot's own words if it fails. Long series: thin() them first, since every point takes bytes in
// an SVG.
void draw(const Plot& plot, const std::filesystem::path& path);

// At most about `most` points of a long series: neighbours are put together, by their means.
Series thin(const Series& series, std::size_t most);

// How often each whole number from 0 to the largest of `values` occurs, in percent, as boxes. Where there would be more
// than 64 boxes, each stands for several numbers.
Series histogram(const std::string& name, const std::vector<int64_t>& values);

}  // namespace tg
