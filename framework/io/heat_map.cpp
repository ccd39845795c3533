#include "framework/io/heat_map.h"

#include <algorithm>
#include <cmath>

#include "framework/core/error.h"
#include "framework/io/gnuplot.h"

namespace tg {
namespace {

void check(const HeatMap& map) {
  require(map.rows.size() >= 2 && !map.columns.empty() && map.values.size() == map.columns.size() &&
              map.line.size() == map.columns.size(),
          "heat map: {} columns, {} of them with values, {} points of the line, {} rows", map.columns.size(),
          map.values.size(), map.line.size(), map.rows.size());
  for (const auto& column : map.values)
    require(column.size() == map.rows.size(), "heat map: a column of {} values, {} rows", column.size(),
            map.rows.size());
}

// x, y, the box's edges, and the value: a line for each.
std::string cells_of(const HeatMap& map) {
  std::string text;
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    for (std::size_t r = 0; r < map.rows.size(); ++r) {
      const double here = map.rows[r], below = r > 0 ? map.rows[r - 1] : here * here / map.rows[r + 1],
                   above = r + 1 < map.rows.size() ? map.rows[r + 1] : here * here / map.rows[r - 1];
      const double value = map.values[c][r];
      text += fmt::format("{} {} {} {} {:.4g} {:.4g} {:.3g}\n", c, here, static_cast<double>(c) - 0.5,
                          static_cast<double>(c) + 0.5, std::sqrt(here * below), std::sqrt(here * above),
                          std::isnan(value) ? map.range : std::clamp(value, -map.range, map.range));
    }
  }
  return text;
}

std::string marks_of(const HeatMap& map, bool crosses) {
  std::string text;
  for (const HeatMap::Mark& mark : map.marks)
    if (mark.cross == crosses) text += fmt::format("{} {}\n", mark.column, mark.y);
  return text;
}

}  // namespace

void draw(const HeatMap& map, const std::filesystem::path& path) {
  check(map);
  std::string names, line;
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    names += fmt::format("{}{} {}", c == 0 ? "" : ", ", gnuplot_text(map.columns[c]), c);
    line += fmt::format("{} {}\n", c, map.line[c]);
  }
  const auto block = [](const char* name, const std::string& lines) {
    return fmt::format("${} << end_of_{}\n{}end_of_{}\n", name, name, lines, name);
  };
  std::string commands = gnuplot_head(map.title, map.x_label, map.y_label) +
                         fmt::format(
                             "set logscale y\nset format y '%g'\nset yrange [{} : {}]\nset xrange [-0.5 : {}]\n"
                             "set xtics ({})\nset cblabel {}\nset cbrange [{} : {}]\n"
                             "set palette defined (-1 '#4477AA', 0 '#ffffff', 1 '#EE6677')\n",
                             map.rows.front(), map.rows.back(), static_cast<double>(map.columns.size()) - 0.5, names,
                             gnuplot_text(map.colours), -map.range, map.range) +
                         block("cells", cells_of(map)) + block("line", line);
  std::string list =
      "plot $cells using 1:2:3:4:5:6:7 with boxxyerror linecolor palette fillstyle solid noborder "
      "notitle, $line using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.5 linecolor rgb "
      "'#000000' title " +
      gnuplot_text(map.line_name);
  for (const bool crosses : {false, true}) {
    const std::string marks = marks_of(map, crosses);
    if (marks.empty()) continue;
    const char* name = crosses ? "crosses" : "rings";
    commands += block(name, marks);
    list += fmt::format(
        ", ${} using 1:2 with points pointtype {} pointsize 1.1 linewidth 2 linecolor rgb '#000000' "
        "title {}",
        name, crosses ? 2 : 6, gnuplot_text(crosses ? map.cross_name : map.ring_name));
  }
  draw_svg(commands + list + "\n", path);
}

}  // namespace tg
