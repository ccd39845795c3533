#pragma once
// The learning rate as a function of the minibatch gradients accepted so far.

#include <cstdint>
#include <vector>

namespace tg {

// Constant or step decay, with a linear warm-up. One epoch is (training set / batch) gradients for every rule, so the
// same schedule holds for any number of workers.
class Schedule {
 public:
  struct Options {
    double peak = 0.1;                // the rate after warm-up
    int64_t warmup = 0;               // gradients over which the rate grows linearly from warmup_start to peak
    double warmup_start = 0;          // DANA's recipe: peak / workers
    std::vector<int64_t> drops = {};  // after this many gradients the rate is multiplied by `factor`, each time
    double factor = 0.1;
  };
  // Throws Error for a negative rate, a factor outside (0, 1] or drops that do not grow.
  explicit Schedule(const Options& options);
  float rate(int64_t accepted) const;
  float peak() const { return static_cast<float>(options_.peak); }

 private:
  Options options_;
};

}  // namespace tg
