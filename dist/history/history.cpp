#include "dist/history/history.h"

#include <algorithm>

namespace tg {

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
  double lags = 0, gaps = 0;
  for (const UpdateRecord& update : history.updates) {
    lags += static_cast<double>(update.lag);
    gaps += update.gap;
    summary.max_lag = std::max(summary.max_lag, update.lag);
    summary.bytes_up += update.bytes_up;
    summary.bytes_down += update.bytes_down;
  }
  if (!history.updates.empty()) {
    const double count = static_cast<double>(history.updates.size());
    summary.mean_lag = lags / count;
    summary.mean_gap = gaps / count;
  }
  return summary;
}

}  // namespace tg
