#include "optim/vector.h"

namespace tg {

namespace {

// Of a map that may be const.
template <class Map>
auto& vector_of(Map& vectors, WorkerId worker) {
  const auto found = vectors.find(worker);
  require(found != vectors.end(), "optim: worker {} sent a message but has not joined", worker);
  return found->second;
}

}  // namespace

Span WorkerVectors::of(WorkerId worker) { return vector_of(vectors_, slot(worker)).span(); }

View WorkerVectors::of(WorkerId worker) const { return vector_of(vectors_, slot(worker)).view(); }

std::vector<WorkerId> WorkerVectors::workers() const {
  std::vector<WorkerId> ids;
  for (const auto& [id, vector] : vectors_) ids.push_back(id);
  return ids;
}

void WorkerVectors::save(StateWriter& state, const std::string& name) const {
  for (const auto& [id, vector] : vectors_) state.write(fmt::format("{}/{}", name, id), vector.view());
  write_workers(state, name, workers());
}

void WorkerVectors::load(const StateReader& state, const std::string& name) {
  vectors_.clear();
  for (const WorkerId id : read_workers(state, name)) {
    require(slot(id) == id,
            "optim: state '{}' has a vector of worker {}, but one for all is kept; it was saved with "
            "another option",
            name, id);
    join(id);
    state.read(fmt::format("{}/{}", name, id), of(id));
  }
}

}  // namespace tg
