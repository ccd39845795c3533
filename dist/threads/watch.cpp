#include "dist/threads/watch.h"

#include <algorithm>

namespace tg {
namespace {

// "worker 3", "workers 0, 3 and 5", "workers 0, 3, 5 and 13 others"
std::string names_of(const std::vector<WorkerId>& workers) {
  constexpr size_t kMost = 8;
  const size_t named = workers.size() <= kMost ? workers.size() : kMost - 1;
  std::string text = workers.size() == 1 ? "worker " : "workers ";
  for (size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == workers.size() ? " and " : ", ";
    text += std::to_string(workers[i]);
  }
  if (named < workers.size()) text += fmt::format(" and {} others", workers.size() - named);
  return text;
}

}  // namespace

Watch::Seen Watch::look() {
  const double now = run_.seconds();
  if (run_.taken != taken_) {
    taken_ = run_.taken;
    progress_ = now;
  }
  std::vector<WorkerId> waiting;
  double since = now;
  for (const Seat& seat : run_.seats) {
    if (seat.state != Seat::State::waiting) continue;
    waiting.push_back(seat.id);
    since = std::min(since, seat.since.load());
  }
  if (waiting.empty()) return judge(now, progress_, "no message has come");
  return judge(now, since, fmt::format("{} wait{} at the gate", names_of(waiting), waiting.size() == 1 ? "s" : ""));
}

Watch::Seen Watch::look_after_end() {
  const double now = run_.seconds();
  if (over_ < 0) over_ = now;
  return judge(now, over_, "the run is over, but not all threads have ended");
}

Watch::Seen Watch::judge(double now, double since, const std::string& what) {
  const double waited = now - since;
  Seen seen{.text = "", .too_long = waited >= options_.fail_after};
  if (!seen.too_long && (waited < options_.note_after || told_ == since)) return seen;
  told_ = since;
  seen.text = fmt::format("{}, for {:.1f} s now: {}", what, waited, missing(now));
  return seen;
}

// In words: which workers compute, and since when the slowest of them does.
std::string Watch::missing(double now) const {
  std::vector<WorkerId> computing;
  const Seat* longest = nullptr;
  for (const Seat& seat : run_.seats) {
    if (seat.state != Seat::State::computing) continue;
    computing.push_back(seat.id);
    if (longest == nullptr || seat.since < longest->since) longest = &seat;
  }
  if (longest == nullptr) return "nobody is at work";
  return fmt::format("{} {} at work; worker {} began its gradient {} {:.1f} s ago", names_of(computing),
                     computing.size() == 1 ? "is" : "are", longest->id, longest->task.load(),
                     now - longest->since.load());
}

}  // namespace tg
