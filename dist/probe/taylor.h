#pragma once
// How good is a delay compensation's Taylor term? Along a run, for a gradient g that was taken at `sent` and arrives at
// theta, three gradients of the same batch are compared: the stale g, the compensated g + c, and the true one at theta
// (DC-ASGD, Zheng et al. 2017, claims that g + c is nearer to it).

#include <vector>

#include "dist/engine.h"

namespace tg {

// Sums over the coordinates of one parameter tensor.
struct TaylorSums {
  double gradient = 0;      // squares of the true gradient
  double stale = 0;         // squares of true - g
  double compensated = 0;   // squares of true - (g + c)
  double compensation = 0;  // squares of c
  double fit = 0;           // products of c and true - g

  TaylorSums& operator+=(const TaylorSums& other);
  // The factor x for which g + x c would have been nearest to the true gradient, by least squares; 0 where c is 0.
  double best_factor() const { return compensation > 0 ? fit / compensation : 0; }
};

struct TaylorPoint {
  int64_t update = 0;
  int64_t lag = 0;
  std::vector<TaylorSums> tensors;  // in the layout's order
};

// Listens to a run of the simulator and measures at every `every`-th update, the first included.
class TaylorProbe : public Observer {
 public:
  // `job` must outlive this. Throws Error if every < 1.
  TaylorProbe(const Job& job, int64_t every);
  ~TaylorProbe() override;

  void on_event(int shard, const Event& event) override;
  Terms* explain_to(int shard, WorkerId worker, int64_t batch, View theta) override;
  // Throws Error if the rule tells no term called "compensation".
  void on_update(const UpdateRecord& update) override;

  const std::vector<TaylorPoint>& points() const { return points_; }

 private:
  class Taken;
  const Job& job_;
  int64_t every_;
  std::vector<int64_t> steps_;  // by worker: tasks that it was sent, by which its random numbers are drawn
  int64_t updates_ = 0;
  std::unique_ptr<Taken> taken_;  // of the message that is about to be taken in
  std::vector<TaylorPoint> points_;
};

}  // namespace tg
