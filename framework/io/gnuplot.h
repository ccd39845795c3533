#pragma once
// gnuplot as a program that draws one SVG.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tg {

// True if a program `gnuplot` lies in the PATH.
bool gnuplot_found();

// A text as gnuplot reads it, whatever is in it.
std::string gnuplot_text(const std::string& text);

// The lines that begin a picture with a title and names of its axes.
std::string gnuplot_head(const std::string& title, const std::string& x_label, const std::string& y_label);

// Runs `commands` and writes the picture to `path`, which gets the whole of it or stays as it was. Throws Error with
// gnuplot's own words if it fails.
void draw_svg(const std::string& commands, const std::filesystem::path& path);

}  // namespace tg
