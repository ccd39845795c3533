#pragma once
// Delayed quadratics: at which rates does a rule converge with late gradients, and how fast? On f(w) = h w^2 / 2 a rule
// that is linear in the gradients repeats one linear map, round after round, so that w grows or shrinks by the map's
// largest eigenvalue: running it is power iteration. Only the product eta h counts, so coordinates with different
// curvatures h stand for different rates eta, and one run of a rule that works coordinate by coordinate tells of all.

#include <vector>

#include "dist/task.h"

namespace tg {

class Rule;

// f(w) = sum over i of curvatures[i] w_i^2 / 2, the same for every batch. It remembers at which w the gradient of each
// of the first batches was taken, so one object serves one run at a time.
class Quadratics final : public Task {
 public:
  // All w_i begin at `start`, which must be finite and not 0 (throws Error). The first `batches` batches are
  // remembered.
  Quadratics(std::vector<double> curvatures, double start, int64_t batches);

  const Layout& layout() const override { return layout_; }
  void initial(uint64_t seed, Span out) const override;
  int64_t batches_per_epoch() const override { return batches_; }
  int64_t batch_size() const override { return 1; }
  // Returns a loss of 0, so that a run goes on when some coordinates have become infinite.
  double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const override;
  Evaluation evaluate(View, uint64_t) const override { return {}; }

  // |w_i| where the gradient of `batch` was taken / |w_i| at the start.
  double size(int64_t batch, int64_t i) const;

 private:
  std::vector<double> curvatures_;
  double start_;
  int64_t batches_;
  Layout layout_;
  mutable std::vector<float> taken_at_;  // [batches, coordinates]; each batch writes its own row
};

// What w is multiplied by at each gradient in the long run, for each product eta h in `rates`: below 1 the rule
// converges. `workers` workers in turn, each gradient workers - 1 updates late, or in rounds if the rule's gate has
// them. `start`: w_i at first; it makes no difference unless the rule is not linear (DC-ASGD: what its compensation
// does vanishes with w, so that near the optimum it is ASGD; Gap-Aware has an epsilon).
// Throws Error for what the simulator refuses, such as more than one worker for a sequential rule.
std::vector<double> growth_factors(const Rule& rule, int workers, const std::vector<double>& rates,
                                   double start = 1e-3);

// The largest of the growing `rates` below which w never grows; 0 if it grows at the first, the last if it grows at
// none. `growth` is growth_factors() of the same; between the last that is stable and the next it looks closer.
double largest_stable_rate(const Rule& rule, int workers, const std::vector<double>& rates,
                           const std::vector<double>& growth);

}  // namespace tg
