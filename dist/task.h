#pragma once
// Task: what is trained, as an engine sees it. No engine knows layers, data sets or losses.

#include <string>
#include <vector>

#include "framework/core/layout.h"
#include "framework/core/random.h"
#include "framework/core/span.h"

namespace tg {

struct Evaluation {
  double loss = 0;           // mean over the test set
  double error_percent = 0;  // share of the test set that is classified wrongly
};

// All functions may be called by several threads at once; each call depends on its arguments alone.
class Task {
 public:
  virtual ~Task() = default;
  virtual const Layout& layout() const = 0;
  // Writes the initial parameters of this seed.
  virtual void initial(uint64_t seed, Span out) const = 0;
  virtual int64_t batches_per_epoch() const = 0;
  virtual int64_t batch_size() const = 0;  // samples; the last batch of an epoch may be smaller
  // Writes the mean gradient of batch number `batch` (0, 1, ... over the whole run; the order is a function of the
  // seed) at `at`, and returns the batch's mean loss. `stream` is for what the model draws (dropout, augmentation).
  virtual double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const = 0;
  // After a gradient() of these arguments with a loss that is not finite, for the message of the run that it ends:
  // where such a number came first, in words ("exp [32, 10], after fc1"). Empty if the task cannot tell.
  virtual std::string where_not_finite(View /*at*/, uint64_t /*seed*/, int64_t /*batch*/, const Stream&) const {
    return {};
  }
  // On the test set. `seed` fixes the training batches on which statistics such as batch norm's are
  // re-estimated.
  virtual Evaluation evaluate(View theta, uint64_t seed) const = 0;
};

}  // namespace tg
