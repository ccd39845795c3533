#include "optim/state.h"

#include <limits>
#include <set>

#include "framework/core/error.h"

namespace tg {

void write_workers(StateWriter& state, const std::string& name, const std::vector<WorkerId>& workers) {
  int64_t i = 0;
  for (const WorkerId id : workers) state.write(fmt::format("{}/worker/{}", name, i++), int64_t{id});
  state.write(name + "/count", i);
}

std::vector<WorkerId> read_workers(const StateReader& state, const std::string& name) {
  std::set<int64_t> seen;
  std::vector<WorkerId> workers;
  const int64_t count = state.read(name + "/count");
  // A count that is too high ends at the first worker that the state lacks.
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = state.read(fmt::format("{}/worker/{}", name, i));
    require(id >= 0 && id <= std::numeric_limits<WorkerId>::max() && seen.insert(id).second,
            "optim: state '{}' lists worker {}, which is no worker or listed twice; the snapshot is damaged", name, id);
    workers.push_back(static_cast<WorkerId>(id));
  }
  return workers;
}

}  // namespace tg
