#include "dist/history/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tg {

const char* name_of(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::join: return "join";
    case Event::Kind::leave: return "leave";
    case Event::Kind::assign: return "assign";
    case Event::Kind::arrive: return "arrive";
    case Event::Kind::evaluate: return "evaluate";
    case Event::Kind::finish: return "finish";
    case Event::Kind::release: return "release";
    case Event::Kind::stop: return "stop";
  }
  return "?";
}

const char* name_of(History::Status status) {
  switch (status) {
    case History::Status::finished: return "finished";
    case History::Status::stopped: return "stopped";
    case History::Status::diverged: return "diverged";
  }
  return "?";
}

Summary summarise(const History& history) {
  Summary summary;
  double lags = 0, gaps = 0, measured = 0;
  for (const UpdateRecord& update : history.updates) {
    lags += static_cast<double>(update.lag);
    if (!std::isnan(update.gap)) {
      gaps += update.gap;
      ++measured;
    }
    summary.max_lag = std::max(summary.max_lag, update.lag);
    summary.gradients += update.gradients;
    summary.bytes_up += update.bytes_up;
    summary.bytes_down += update.bytes_down;
  }
  if (!history.updates.empty()) {
    const double count = static_cast<double>(history.updates.size());
    summary.mean_lag = lags / count;
    summary.mean_gap = measured > 0 ? gaps / measured : std::numeric_limits<double>::quiet_NaN();  // 0 / 0 is -nan
  }
  return summary;
}

}  // namespace tg
