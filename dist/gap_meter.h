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

// It is measured on so many coordinates, drawn from the seed, unless job.exact_gap asks for all.
inline constexpr int64_t kGapCoordinates = 4096;

// How many coordinates are measured in all shards together: all parameters where there are no more.
int64_t gap_coordinates(const Job& job);

class GapMeter {
 public:
  // Measures those of the coordinates that lie in `range`, a shard's part of the vector.
  GapMeter(const Job& job, const ShardRange& range);

  // The sum of the squared gaps of these coordinates, for a message of `worker` that has arrived and is not taken in
  // yet. `theta` and `sent` are vectors of the range.
  double squares(WorkerId worker, View theta, View sent);

  // A message was taken in; `ahead` is what Worker::ahead() has said since that message was made.
  void take(WorkerId worker, View ahead);
  void leave(WorkerId worker);

  void save(StateWriter& state) const;
  void load(const StateReader& state);

 private:
  BasicSpan<const int64_t> places() const;

  bool all_;                             // every coordinate of the range is measured
  std::vector<int64_t> places_;          // otherwise: where in the range, in growing order
  int64_t coordinates_;                  // length of the vectors below
  WorkerVectors ahead_;                  // the look-ahead of each worker that has one, at these coordinates
  std::unique_ptr<Vector<double>> sum_;  // the sum of these; null while no worker has one
};

}  // namespace tg
