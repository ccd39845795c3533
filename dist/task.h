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

// Several threads may call any of these functions at the same time, and a result depends on the arguments alone.
class Task {
 public:
  virtual ~Task() = default;
  // Names and places of the tensors in the flat vector of parameters. Vectors below have layout().size() elements.
  virtual const Layout& layout() const = 0;
  // Writes the initial parameters for this seed; the gaps between tensors are left alone.
  virtual void initial(uint64_t seed, Span out) const = 0;
  virtual int64_t batches_per_epoch() const = 0;
  virtual int64_t batch_size() const = 0;  // samples; the last batch of an epoch may be smaller
  // Writes the mean gradient of batch number `batch` (0, 1, ... over the whole run; the order is a function of the
  // seed) at `at`, and returns the batch's mean loss. `stream` is for what the model draws (dropout, augmentation).
  virtual double gradient(View at, uint64_t seed, int64_t batch, const Stream& stream, Span out) const = 0;
  // Called with the arguments of a gradient() whose loss was not finite. Says for the user's message in which operation
  // a value that is not finite appeared first ("exp [32, 10], after fc1"). Empty if the task cannot tell.
  virtual std::string where_not_finite(View /*at*/, uint64_t /*seed*/, int64_t /*batch*/, const Stream&) const {
    return {};
  }
  // Loss and error of these parameters on the test set. `seed` fixes the training batches on which batch-norm
  // statistics are estimated first.
  virtual Evaluation evaluate(View theta, uint64_t seed) const = 0;
};

}  // namespace tg
