#include "dist/history/trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "dist/history/trace_html.h"
#include "framework/core/error.h"
#include "framework/io/plot.h"

namespace tg {
namespace {

nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const TraceTask& task) {
  nlohmann::ordered_json json{{"worker", task.worker}, {"batch", task.batch}, {"begin", task.begin}, {"end", task.end}};
  json["taken"] = task.update.has_value();
  if (!task.update) return json;
  json["update"] = task.update->update;
  json["lag"] = task.update->lag;
  json["gap"] = number_or_null(task.update->gap);
  json["loss"] = number_or_null(task.update->loss);
  json["rate"] = number_or_null(task.update->learning_rate);
  return json;
}

int64_t median_lag(const Trace& trace) {
  std::vector<int64_t> lags;
  for (const TraceTask& task : trace.tasks)
    if (task.update) lags.push_back(task.update->lag);
  const auto middle = lags.begin() + std::ssize(lags) / 2;
  std::nth_element(lags.begin(), middle, lags.end());
  return *middle;
}

}  // namespace

Trace make_trace(const std::string& title, const std::string& unit, const std::vector<Event>& events,
                 const std::vector<UpdateRecord>& updates, int64_t first, int64_t count) {
  Trace trace{title, unit, 0, {}};
  std::map<WorkerId, double> begun;
  int64_t update = 0;
  bool any = false;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::assign) begun[event.worker] = event.time;
    if (event.kind != Event::Kind::arrive) continue;
    const int64_t number = event.taken ? update++ : update;
    if (number < first || number - first >= count || number >= std::ssize(updates)) continue;
    TraceTask task{event.worker, event.batch, begun[event.worker], event.time, {}};
    if (event.taken) task.update = updates[static_cast<size_t>(number)];
    any = any || event.taken;
    trace.workers = std::max(trace.workers, event.worker + 1);
    trace.tasks.push_back(std::move(task));
  }
  require(any, "trace: no update from {} on; the run has {}", first, updates.size());
  return trace;
}

void draw_trace(const Trace& trace, const std::filesystem::path& path) {
  const int64_t median = median_lag(trace), late = std::max<int64_t>(2 * median, 1);
  using Style = Series::Style;
  Series usual{fmt::format("lag up to {}, the median", median), {}, {}, Style::segments};
  Series very_late{fmt::format("lag {} or more", late), {}, {}, Style::segments};
  Series refused{"refused by the gate", {}, {}, Style::segments};
  Series delayed{fmt::format("lag up to {}", late - 1), {}, {}, Style::segments};
  for (const TraceTask& task : trace.tasks) {
    Series& series = !task.update                 ? refused
                     : task.update->lag >= late   ? very_late
                     : task.update->lag <= median ? usual
                                                  : delayed;
    const double gap = 0.01 * (task.end - task.begin);  // so that a worker's tasks do not run into each other
    series.x.insert(series.x.end(), {task.begin + gap, task.end - gap});
    series.y.insert(series.y.end(), 2, task.worker);
  }
  draw({trace.title, trace.unit, "worker", {usual, very_late, refused, delayed}}, path);
}

std::string trace_page(const Trace& trace) {
  nlohmann::ordered_json data{{"title", trace.title}, {"unit", trace.unit}, {"workers", trace.workers}};
  data["tasks"] = nlohmann::ordered_json::array();
  for (const TraceTask& task : trace.tasks) data["tasks"].push_back(to_json(task));
  std::string json = data.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  // "</script>" within a title would end the script.
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;) json.replace(at, 1, "\\u003c");
  std::string page = kTraceHtml;
  const std::string place = "/*DATA*/null";
  page.replace(page.find(place), place.size(), json);
  return page;
}

}  // namespace tg
