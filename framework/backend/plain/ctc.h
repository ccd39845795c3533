#pragma once
// One sample of connectionist temporal classification (Graves et al. 2006, section 4), with logarithms in double: the
// probability of a path of hundreds of steps is far below the smallest float.
//
//   paper   here
//   y_k^t   e^log_y[t, k], the softmax of the logits
//   l'      the label with a blank before, between and after its entries: state s is the blank if s is even, else entry
//           (s - 1) / 2
//   alpha   e^log_alpha[t, s]: all ways to be in state s at step t
//   beta    all ways to go on from there, without step t itself, so that alpha beta has each y once
//
// Also the cpu backend's form, which splits a batch among threads.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/plain/log_softmax.h"

namespace tg::ctc {

inline constexpr int32_t kBlank = 0;
inline constexpr double kNever = -std::numeric_limits<double>::infinity();  // log 0

// log(e^a + e^b + e^c)
inline double log_sum(double a, double b, double c) {
  if (a < b) std::swap(a, b);
  if (a < c) std::swap(a, c);  // now a is the largest
  if (a == kNever) return kNever;
  return a + std::log(1 + std::exp(b - a) + std::exp(c - a));
}

template <class T>
struct Sample {
  int64_t steps, classes;
  const int32_t* label;  // [length], without blanks
  int64_t length;

  int64_t states() const { return 2 * length + 1; }
  int64_t class_of(int64_t state) const { return state % 2 == 0 ? kBlank : label[state / 2]; }
  // Whether a path may go from state - 2 to `state`, past the blank between: only a repeated entry needs that blank.
  bool skips_to(int64_t state) const {
    return state % 2 == 1 && 3 <= state && state < states() && label[state / 2] != label[state / 2 - 1];
  }

  // Fills log_y [steps, classes] and log_alpha [steps, states()], rows `stride` apart; returns log p(label | logits).
  double forward(const T* logits, T* log_y, double* log_alpha, int64_t stride) const {
    for (int64_t t = 0; t < steps; ++t) {
      const T* y = log_y + t * classes;
      double* alpha = log_alpha + t * stride;
      const double* before = t == 0 ? nullptr : alpha - stride;
      log_softmax_row(logits + t * classes, classes, log_y + t * classes);
      for (int64_t s = 0; s < states(); ++s) {
        const double ways =
            t == 0 ? (s <= 1 ? 0 : kNever)
                   : log_sum(before[s], s >= 1 ? before[s - 1] : kNever, skips_to(s) ? before[s - 2] : kNever);
        alpha[s] = ways + static_cast<double>(y[class_of(s)]);
      }
    }
    return log_probability(log_alpha, stride);
  }

  // dlogits [steps, classes] = scale (y - what of each class the paths of the label hold), from what forward() filled.
  void backward(const T* log_y, const double* log_alpha, int64_t stride, T scale, T* dlogits) const {
    const double log_p = log_probability(log_alpha, stride);
    // onward[s]: beta times y of the step after the present one, if that step is in state s. Two never reached states
    // follow the last.
    std::vector<double> onward(static_cast<size_t>(states() + 2), kNever), share(static_cast<size_t>(classes));
    for (int64_t t = steps - 1; t >= 0; --t) {
      const T* y = log_y + t * classes;
      const double* alpha = log_alpha + t * stride;
      std::fill(share.begin(), share.end(), 0.0);
      for (int64_t s = 0; s < states(); ++s) {
        double* next = onward.data() + s;
        const double beta = t == steps - 1 ? (s >= states() - 2 ? 0 : kNever)
                                           : log_sum(next[0], next[1], skips_to(s + 2) ? next[2] : kNever);
        share[static_cast<size_t>(class_of(s))] += std::exp(alpha[s] + beta - log_p);
        next[0] = beta + static_cast<double>(y[class_of(s)]);
      }
      for (int64_t k = 0; k < classes; ++k)
        dlogits[t * classes + k] = scale * (std::exp(y[k]) - static_cast<T>(share[static_cast<size_t>(k)]));
    }
  }

 private:
  // A path ends in the last entry or in the blank after it.
  double log_probability(const double* log_alpha, int64_t stride) const {
    const double* last = log_alpha + (steps - 1) * stride + states() - 1;
    return log_sum(last[0], states() > 1 ? last[-1] : kNever, kNever);
  }
};

// Where the samples of a batch lie in its tensors.
template <class T>
class Batch {
 public:
  Batch(const CtcTargets& targets, const Shape& logits)
      : most_steps_(logits[1]),
        classes_(logits[2]),
        most_labels_(targets.labels.dim(1)),
        labels_(targets.labels.data<int32_t>()),
        label_lengths_(targets.label_lengths.data<int32_t>()),
        input_lengths_(targets.input_lengths.data<int32_t>()) {}

  // -log p of samples [begin, end), to loss[n].
  void forward(int64_t begin, int64_t end, const T* logits, T* log_y, double* log_alpha, double* loss) const {
    for (int64_t n = begin; n < end; ++n)
      loss[n] = -sample(n).forward(logits + rows(n), log_y + rows(n), log_alpha + alphas(n), most_states());
  }
  void backward(int64_t begin, int64_t end, const T* log_y, const double* log_alpha, T scale, T* dlogits) const {
    for (int64_t n = begin; n < end; ++n) {
      sample(n).backward(log_y + rows(n), log_alpha + alphas(n), most_states(), scale, dlogits + rows(n));
      std::fill(dlogits + rows(n) + input_lengths_[n] * classes_, dlogits + rows(n + 1), T{0});  // steps past the end
    }
  }

 private:
  Sample<T> sample(int64_t n) const {
    return {input_lengths_[n], classes_, labels_ + n * most_labels_, label_lengths_[n]};
  }
  int64_t most_states() const { return 2 * most_labels_ + 1; }
  int64_t rows(int64_t n) const { return n * most_steps_ * classes_; }
  int64_t alphas(int64_t n) const { return n * most_steps_ * most_states(); }

  int64_t most_steps_, classes_, most_labels_;
  const int32_t *labels_, *label_lengths_, *input_lengths_;
};

// The mean over the batch, added up in order.
inline double mean_of(const std::vector<double>& losses) {
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(losses.size());
}

}  // namespace tg::ctc
