#pragma once
// GapMeter: how far theta at a message's arrival is from what its worker was sent (the gap of Hakimi et al. 2019).
//
// Raw, that is theta - sent, as both are. A rule whose server keeps a look-ahead in theta (DANA-Slim: Theta = theta -
// eta gamma sum over workers of v) says which part of it is whose by Worker::ahead(). What is measured is then
// (theta + sum over the other workers of their part) - sent: without it the velocities, which the look-ahead has taken
// away on purpose, would be counted as distance. A look-ahead of a worker that was lost is part of theta from then on.

#include <memory>
#include <vector>

#include "dist/engine.h"
#include "dist/shards.h"
#include "optim/vector.h"

namespace tg {

// Of so many coordinates it is measured, drawn from the seed, unless job.exact_gap asks for all.
inline constexpr int64_t kGapCoordinates = 4096;

// How many coordinates that makes, over all shards; all where there are fewer.
int64_t gap_coordinates(const Job& job);

class GapMeter {
 public:
  // Of the coordinates that lie in `range`.
  GapMeter(const Job& job, const ShardRange& range);

  // The sum of their squares, for a message of `worker` that is not taken in yet; vectors of the range.
  double squares(WorkerId worker, View theta, View sent);

  // A message was taken in: `ahead` is what its worker has said (Worker::ahead) since it made it.
  void take(WorkerId worker, View ahead);
  void leave(WorkerId worker);

  void save(StateWriter& state) const;
  void load(const StateReader& state);

 private:
  BasicSpan<const int64_t> places() const;

  bool all_;                             // coordinates; else those at:
  std::vector<int64_t> places_;          // in the range, in order
  int64_t coordinates_;                  // of the vectors below
  WorkerVectors ahead_;                  // of each worker that has been ahead
  std::unique_ptr<Vector<double>> sum_;  // over these; null while there is none
};

}  // namespace tg
