#include "optim/vector.h"

#include <limits>

namespace tg {

Span WorkerVectors::of(WorkerId worker) {
  const auto found = vectors_.find(worker);
  require(found != vectors_.end(), "optim: worker {} sent a message but has not joined", worker);
  return found->second.span();
}

std::vector<WorkerId> WorkerVectors::workers() const {
  std::vector<WorkerId> ids;
  for (const auto& [id, vector] : vectors_) ids.push_back(id);
  return ids;
}

void WorkerVectors::save(StateWriter& state, const std::string& name) const {
  int64_t i = 0;
  for (const auto& [id, vector] : vectors_) {
    state.write(fmt::format("{}/worker/{}", name, i++), int64_t{id});
    state.write(fmt::format("{}/{}", name, id), vector.view());
  }
  state.write(name + "/count", i);
}

void WorkerVectors::load(const StateReader& state, const std::string& name) {
  vectors_.clear();
  const int64_t count = state.read(name + "/count");
  // A count that is too high ends at the first worker that the state lacks.
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = state.read(fmt::format("{}/worker/{}", name, i));
    require(id >= 0 && id <= std::numeric_limits<WorkerId>::max() && !has(static_cast<WorkerId>(id)),
            "optim: state '{}' lists worker {}, which is no worker or listed twice; the snapshot is damaged", name, id);
    join(static_cast<WorkerId>(id));
    state.read(fmt::format("{}/{}", name, id), of(static_cast<WorkerId>(id)));
  }
}

}  // namespace tg
