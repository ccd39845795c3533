#pragma once
// Watch: notices when a run on threads makes no progress, so that nobody waits without knowing for whom, or for ever.

#include <string>

#include "dist/threads/run_state.h"
#include "dist/threads/threads.h"

namespace tg {

class Watch {
 public:
  Watch(const RunState& run, const ThreadsOptions& options) : run_(run), options_(options) {}

  struct Seen {
    std::string text;       // for the user: who is missing; given once for each wait, otherwise empty
    bool too_long = false;  // the wait has reached options.fail_after
  };
  // Looks at how long workers have waited at the gate or, if none waits there, how long ago the last message came.
  Seen look();
  // When the run is over: looks at how long ago that was, since some thread has not ended.
  Seen look_after_end();

 private:
  Seen judge(double now, double since, const std::string& what);
  std::string missing(double now) const;

  const RunState& run_;
  const ThreadsOptions& options_;
  // Times are in seconds after the run's start.
  double told_ = -1;     // when the wait began that the user was told of last
  int64_t taken_ = -1;   // messages taken in, at the last call of look()
  double progress_ = 0;  // when that number last grew
  double over_ = -1;     // when the run was first seen to be over
};

}  // namespace tg
