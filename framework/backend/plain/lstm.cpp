#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/backend/plain/plain.h"

namespace tg {
namespace {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

int64_t length_of(const Tensor& lengths, int64_t sequence, int64_t steps) {
  return lengths.defined() ? lengths.data<int32_t>()[sequence] : steps;
}

// `kept` has for each step of each sequence its gates i, f, g, o and its state c, [N, T, 5 H].
template <class T>
struct Cell {
  Cell(T* row, int64_t hidden) : gates(row), i(row), f(i + hidden), g(f + hidden), o(g + hidden), c(o + hidden) {}
  T *gates, *i, *f, *g, *o, *c;
};

}  // namespace

void PlainBackend::lstm(const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight, const Tensor& bias,
                        const Tensor& lengths, Tensor& y, Tensor& kept) {
  const int64_t sequences = x.dim(0), steps = x.dim(1), inputs = x.dim(2), hidden = y.dim(2);
  kept = Tensor::empty({sequences, steps, 5 * hidden}, x.dtype(), x.device());
  y.fill(0);
  visit_floating(x.dtype(), "lstm", [&](auto zero) {
    using T = decltype(zero);
    const T *w = weight.data<T>(), *u = recurrent_weight.data<T>(), *b = bias.data<T>();
    const std::vector<T> zeros(static_cast<size_t>(hidden));
    for (int64_t n = 0; n < sequences; ++n) {
      const T *h_before = zeros.data(), *c_before = zeros.data();
      for (int64_t t = 0; t < length_of(lengths, n, steps); ++t) {
        const int64_t at = n * steps + t;
        const T* in = x.data<T>() + at * inputs;
        T* h = y.data<T>() + at * hidden;
        const Cell<T> cell(kept.data<T>() + at * 5 * hidden, hidden);
        for (int64_t r = 0; r < 4 * hidden; ++r) {
          T z = b[r];
          for (int64_t k = 0; k < inputs; ++k) z += w[r * inputs + k] * in[k];
          for (int64_t k = 0; k < hidden; ++k) z += u[r * hidden + k] * h_before[k];
          cell.gates[r] = r / hidden == 2 ? std::tanh(z) : sigmoid(z);
        }
        for (int64_t k = 0; k < hidden; ++k) {
          cell.c[k] = cell.f[k] * c_before[k] + cell.i[k] * cell.g[k];
          h[k] = cell.o[k] * std::tanh(cell.c[k]);
        }
        h_before = h;
        c_before = cell.c;
      }
    }
  });
}

void PlainBackend::lstm_backward(const Tensor& gradient, const Tensor& x, const Tensor& weight,
                                 const Tensor& recurrent_weight, const Tensor& lengths, const Tensor& y, Tensor& kept,
                                 Tensor& dx, Tensor& dweight, Tensor& drecurrent_weight, Tensor& dbias) {
  const int64_t sequences = x.dim(0), steps = x.dim(1), inputs = x.dim(2), hidden = y.dim(2);
  for (Tensor* t : {&dx, &dweight, &drecurrent_weight, &dbias})
    if (t->defined()) t->fill(0);
  visit_floating(x.dtype(), "lstm", [&](auto zero) {
    using T = decltype(zero);
    const T *w = weight.data<T>(), *u = recurrent_weight.data<T>();
    T *dw = dweight.data<T>(), *du = drecurrent_weight.data<T>(), *db = dbias.data<T>();
    const std::vector<T> zeros(static_cast<size_t>(hidden));
    std::vector<T> dh(zeros), dc(zeros), dz(static_cast<size_t>(4 * hidden));  // of the step at hand
    for (int64_t n = 0; n < sequences; ++n) {
      std::fill(dh.begin(), dh.end(), T{0});
      std::fill(dc.begin(), dc.end(), T{0});
      for (int64_t t = length_of(lengths, n, steps) - 1; t >= 0; --t) {
        const int64_t at = n * steps + t;
        const Cell<T> cell(kept.data<T>() + at * 5 * hidden, hidden);
        const T* c_before = t == 0 ? zeros.data() : cell.c - 5 * hidden;
        const T* h_before = t == 0 ? zeros.data() : y.data<T>() + (at - 1) * hidden;
        for (int64_t k = 0; k < hidden; ++k) {
          const auto s = static_cast<size_t>(k);
          T* d = dz.data() + k;
          const T i = cell.i[k], f = cell.f[k], g = cell.g[k], o = cell.o[k], tc = std::tanh(cell.c[k]);
          dh[s] += gradient.data<T>()[at * hidden + k];
          dc[s] += dh[s] * o * (1 - tc * tc);
          d[0] = dc[s] * g * i * (1 - i);
          d[hidden] = dc[s] * c_before[k] * f * (1 - f);
          d[2 * hidden] = dc[s] * i * (1 - g * g);
          d[3 * hidden] = dh[s] * tc * o * (1 - o);
          dc[s] *= f;  // of the step before
        }
        std::fill(dh.begin(), dh.end(), T{0});
        for (int64_t r = 0; r < 4 * hidden; ++r) {
          const T d = dz[static_cast<size_t>(r)];
          db[r] += d;
          for (int64_t k = 0; k < inputs; ++k) dw[r * inputs + k] += d * x.data<T>()[at * inputs + k];
          for (int64_t k = 0; k < hidden; ++k) du[r * hidden + k] += d * h_before[k];
          for (int64_t k = 0; k < hidden; ++k) dh[static_cast<size_t>(k)] += d * u[r * hidden + k];
          if (!dx.defined()) continue;
          for (int64_t k = 0; k < inputs; ++k) dx.data<T>()[at * inputs + k] += d * w[r * inputs + k];
        }
      }
    }
  });
}

}  // namespace tg
