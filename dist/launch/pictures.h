#pragma once
// The pictures of a run and of a comparison.

#include <filesystem>
#include <string>
#include <vector>

#include "dist/history/history.h"
#include "dist/history/trace.h"
#include "framework/io/plot.h"

namespace tg {

// loss.svg and error.svg over epochs, lag.svg (histogram) and gap.svg (over updates) of one run into its folder.
// Returns what the user should know: empty, or why there are no pictures. Never throws for want of gnuplot.
std::string draw_run(const std::filesystem::path& folder, const std::string& title, const History& history);

// trace.svg into its folder. Returns as draw_run() does.
std::string draw_trace_of_run(const std::filesystem::path& folder, const Trace& trace);

// The gap at each update, thinned for a picture.
Series gap_curve(const History& history);

// A configuration's evaluations, over its seeds.
struct ComparedRuns {
  std::string name;
  std::vector<std::vector<EvaluationRecord>> runs;
  Series gap;  // of the first seed
};
// error.svg, loss.svg and gap.svg: one curve per configuration, of errors and losses the mean over its runs. Returns as
// draw_run() does.
std::string draw_comparison(const std::filesystem::path& folder, const std::vector<ComparedRuns>& compared);

}  // namespace tg
