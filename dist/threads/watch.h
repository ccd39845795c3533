#pragma once
// Watch: nobody waits in silence, or for ever.

#include <string>

#include "dist/threads/run_state.h"
#include "dist/threads/threads.h"

namespace tg {

class Watch {
 public:
  Watch(const RunState& run, const ThreadsOptions& options) : run_(run), options_(options) {}

  struct Seen {
    std::string text;       // what the user should know, once for each wait; else empty
    bool too_long = false;  // options.fail_after has passed
  };
  // How long workers have waited at the gate, or, where none waits, how long no message has come.
  Seen look();
  // The same when the run is over: how long threads have not ended.
  Seen look_after_end();

 private:
  Seen judge(double now, double since, const std::string& what);
  std::string missing(double now) const;

  const RunState& run_;
  const ThreadsOptions& options_;
  double told_ = -1;     // `since` of the wait that was told
  int64_t taken_ = -1;   // messages when it was looked last
  double progress_ = 0;  // when that number last grew
  double over_ = -1;     // when the run was first seen to be over
};

}  // namespace tg
