#pragma once
// A heat map of a quantity whose sign matters, as SVG by gnuplot: blue below zero, red above.

#include <filesystem>
#include <string>
#include <vector>

namespace tg {

struct HeatMap {
  std::string title, x_label, y_label, colours;  // `colours`: what they stand for
  std::vector<std::string> columns;              // their names
  std::vector<double> rows;                      // growing, above zero: drawn on a logarithmic axis
  std::vector<std::vector<double>> values;       // [column][row]; NaN counts as far above zero
  double range = 1;                              // colours are full from here on
  std::string line_name;
  std::vector<double> line;  // y over each column
  // A mark over a column: a ring, or a cross.
  struct Mark {
    std::size_t column = 0;
    double y = 0;
    bool cross = false;
  };
  std::string ring_name, cross_name;
  std::vector<Mark> marks;
};

// Throws Error if gnuplot fails, or the map's parts do not go together.
void draw(const HeatMap& map, const std::filesystem::path& path);

}  // namespace tg
