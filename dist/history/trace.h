#pragma once
// Trace: which worker computed on which batch at which time, as a picture and as a page that steps through the updates.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dist/history/history.h"

namespace tg {

// The work on one batch: from sending the worker its parameters to the arrival of its message.
struct TraceTask {
  WorkerId worker = 0;
  int64_t batch = 0;
  double begin = 0, end = 0;           // in Trace::unit
  std::optional<UpdateRecord> update;  // none: the gate refused the message
};

struct Trace {
  std::string title;
  std::string unit;              // of time: "s" or "time units"
  int workers = 0;               // rows of the picture: the highest worker number in it, plus 1
  std::vector<TraceTask> tasks;  // in the order in which their messages arrived
};

// The tasks that ended with the updates first, ..., first + count - 1, and the refused messages between them. `events`
// are those of shard 0; `updates` are all updates as a replay measured them. Throws Error if no update lies in this
// range.
Trace make_trace(const std::string& title, const std::string& unit, const std::vector<Event>& events,
                 const std::vector<UpdateRecord>& updates, int64_t first, int64_t count);

// Draws an SVG with a bar for each task, by gnuplot. Colours tell lags up to the median, above it, and from twice the
// median on. Throws Error if gnuplot fails.
void draw_trace(const Trace& trace, const std::filesystem::path& path);

// One HTML page, without any other file: the same timeline, update by update, with lag, gap and loss.
std::string trace_page(const Trace& trace);

}  // namespace tg
