#pragma once
// A trace: who worked on what when, as a picture and as a page that steps through the updates.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dist/history/history.h"

namespace tg {

// The work on one batch, from the reply that it began with to the message that ended it.
struct TraceTask {
  WorkerId worker = 0;
  int64_t batch = 0;
  double begin = 0, end = 0;           // time units of the run
  std::optional<UpdateRecord> update;  // what became of it; none: the gate refused the message
};

struct Trace {
  std::string title;
  std::string unit;              // of time
  int workers = 0;               // rows: the largest worker's number and one
  std::vector<TraceTask> tasks;  // in the order in which the messages arrived
};

// Of shard 0's events, with what a replay measured of the updates; tasks that ended with updates [first, first + count)
// and what was refused between them. Throws Error if no update lies in this range.
Trace make_trace(const std::string& title, const std::string& unit, const std::vector<Event>& events,
                 const std::vector<UpdateRecord>& updates, int64_t first, int64_t count);

// Draws a bar for each task as SVG by gnuplot, later than the median and than twice the median in other colours. Throws
// Error if that fails.
void draw_trace(const Trace& trace, const std::filesystem::path& path);

// One HTML page that needs nothing else: the same timeline, update by update, with lag, gap and loss.
std::string trace_page(const Trace& trace);

}  // namespace tg
