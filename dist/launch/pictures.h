#pragma once
// The pictures of a run and of a comparison.

#include <filesystem>
#include <string>
#include <vector>

#include "dist/history/history.h"
#include "dist/history/trace.h"
#include "framework/io/plot.h"

namespace tg {

// Draws loss.svg and error.svg over epochs, lag.svg (a histogram) and gap.svg over updates into the run's folder.
// Returns an empty text, or why there are no pictures: a missing gnuplot is not an error.
std::string draw_run(const std::filesystem::path& folder, const std::string& title, const History& history);

// Draws trace.svg into the run's folder. Returns what draw_run() returns.
std::string draw_trace_of_run(const std::filesystem::path& folder, const Trace& trace);

// The gap at each update, with fewer points if there are more than a picture can show.
Series gap_curve(const History& history);

// What a comparison draws for one configuration.
struct ComparedRuns {
  std::string name;
  std::vector<std::vector<EvaluationRecord>> runs;  // the evaluations of each seed's run
  Series gap;                                       // of the first seed
};
// Draws error.svg and loss.svg, with the mean over the runs of each configuration, and gap.svg. Returns what draw_run()
// returns.
std::string draw_comparison(const std::filesystem::path& folder, const std::vector<ComparedRuns>& compared);

}  // namespace tg
