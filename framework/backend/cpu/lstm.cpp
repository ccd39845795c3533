// The LSTM as a loop over steps: one product for the inputs of all cells, then for each step a small product and one
// pass over its gates. Backward the same in reverse, with one product for each weight's gradient at the end.
//
// Sequences are ordered longest first, and those that still run at a step lie side by side. So a step's product has no
// idle rows, and batches of equal and of different lengths take the same path. oneDNN's own LSTM primitive, which only
// knows equal lengths, takes 1.2 times as long for 40 -> 128 and 1.07 times for 40 -> 800 (docs/performance.md): some
// of its products meet the weights against the way they lie.
//
// With another number of threads the last bits may differ, since a thread's products then have other numbers of rows.

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/cpu/sgemm.h"
#include "framework/backend/cpu/vector_math.h"
#include "framework/core/for_each.h"

namespace tg {
namespace {

// Where the cells of a batch lie: row first[t] + j is step t of sequence order[j], for j < running[t].
struct Packing {
  Packing(int64_t sequences, int64_t steps, const Tensor& lengths) {
    order.resize(static_cast<size_t>(sequences));
    std::iota(order.begin(), order.end(), int64_t{0});
    running.assign(static_cast<size_t>(steps), sequences);
    if (lengths.defined()) {
      const int32_t* length = lengths.data<int32_t>();
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length[a] > length[b]; });
      for (int64_t n = 0; n < sequences; ++n)
        for (int64_t t = length[n]; t < steps; ++t) --running[static_cast<size_t>(t)];
    }
    for (const int64_t rows : running) first.push_back(first.back() + rows);
  }
  int64_t cells() const { return first.back(); }
  bool whole() const { return cells() == std::ssize(order) * std::ssize(running); }

  std::vector<int64_t> order, running, first{0};
};

// What both directions know.
struct Problem {
  Problem(const Tensor& x, const Tensor& recurrent_weight, const Tensor& lengths)
      : sequences(x.dim(0)),
        steps(x.dim(1)),
        inputs(x.dim(2)),
        hidden(recurrent_weight.dim(1)),
        packing(sequences, steps, lengths) {}

  // Calls body(sequence, step, row) for every cell, and body(sequence, step, -1) for what lies past a sequence's end.
  template <class Body>
  void each_cell(int64_t width, const Body& body) const {
    detail::split_range(steps * sequences * width, sequences * width, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin / (sequences * width); t < end / (sequences * width); ++t)
        for (int64_t j = 0; j < sequences; ++j)
          body(packing.order[static_cast<size_t>(j)], t, j < running(t) ? first(t) + j : -1);
    });
  }
  // Calls body(begin, end) for each thread's share of the sequences: threads do not wait for each other at every step.
  template <class Body>
  void share_sequences(const Body& body) const;

  int64_t running(int64_t t) const { return packing.running[static_cast<size_t>(t)]; }
  int64_t first(int64_t t) const { return packing.first[static_cast<size_t>(t)]; }
  // Rows of step t that belong to sequences [begin, end) of the order.
  int64_t running_of(int64_t t, int64_t begin, int64_t end) const {
    return std::clamp<int64_t>(running(t) - begin, 0, end - begin);
  }

  int64_t sequences, steps, inputs, hidden;
  Packing packing;
};

// While it lives, this thread computes its products by itself.
class Alone {
 public:
  Alone() { omp_set_num_threads(1); }
  ~Alone() { omp_set_num_threads(before_); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  int before_ = omp_get_max_threads();
};

constexpr int64_t kFewestRows = 8;          // fewer are a waste of a product
constexpr int64_t kWorthSharing = 1 << 20;  // multiplications: 20 us, several times what waking threads takes

template <class Body>
void Problem::share_sequences(const Body& body) const {
  const int64_t gates = 4 * hidden, work = steps * gates;
  if (sequences < kFewestRows * omp_get_max_threads() && sequences * gates * hidden >= kWorthSharing)
    return body(int64_t{0}, sequences);  // too few for all threads: they share each step's product
  detail::split_range(sequences * work, kFewestRows * work, [&](int64_t begin, int64_t end) {
    const Alone alone;
    body(begin / work, end / work);
  });
}

// x [N, T, width] -> the cells' rows. With `back` 1 a cell gets the row of the step before it, the first one zeros.
Tensor packed(const Problem& p, const Tensor& x, int64_t back) {
  const int64_t width = x.dim(2);
  Tensor out = Tensor::empty({p.packing.cells(), width});
  const float* from = x.data<float>();
  float* to = out.data<float>();
  p.each_cell(width, [&](int64_t n, int64_t t, int64_t row) {
    if (row < 0) return;
    if (t < back) {
      std::fill_n(to + row * width, width, 0.0f);
    } else {
      std::copy_n(from + (n * p.steps + t - back) * width, width, to + row * width);
    }
  });
  return out;
}

// The reverse, zeros past a sequence's end.
void unpack(const Problem& p, const float* rows, Tensor& y) {
  const int64_t width = y.dim(2);
  float* to = y.data<float>();
  p.each_cell(width, [&](int64_t n, int64_t t, int64_t row) {
    float* place = to + (n * p.steps + t) * width;
    if (row < 0) {
      std::fill_n(place, width, 0.0f);
    } else {
      std::copy_n(rows + row * width, width, place);
    }
  });
}

// weight [4H, H] -> its transpose, rows `row` elements apart.
void transpose(const float* weight, int64_t hidden, float* out, int64_t row) {
  constexpr int64_t kTile = 16;  // 16 columns of 16 rows stay in the nearest cache
  detail::split_range(4 * hidden * hidden, kTile * hidden, [&](int64_t begin, int64_t end) {
    for (int64_t g0 = begin / hidden; g0 < end / hidden; g0 += kTile)
      for (int64_t k0 = 0; k0 < hidden; k0 += kTile)
        for (int64_t k = k0; k < std::min(k0 + kTile, hidden); ++k)
          for (int64_t g = g0; g < std::min(g0 + kTile, end / hidden); ++g) out[k * row + g] = weight[g * hidden + k];
  });
}

// A cell: `gates` [4H] come as the two products' sum and become i, f, g and o, and from them c and h [H].
void step_forward(int64_t hidden, const float* bias, float* gates, const float* __restrict c_before,
                  float* __restrict c, float* __restrict h) {
  float* __restrict i = gates;
  float* __restrict f = gates + hidden;
  float* __restrict g = gates + 2 * hidden;
  float* __restrict o = gates + 3 * hidden;
  const float *bi = bias, *bf = bias + hidden, *bg = bias + 2 * hidden, *bo = bias + 3 * hidden;
#pragma omp simd
  for (int64_t k = 0; k < hidden; ++k) {
    i[k] = fast_sigmoid(i[k] + bi[k]);
    f[k] = fast_sigmoid(f[k] + bf[k]);
    g[k] = fast_tanh(g[k] + bg[k]);
    o[k] = fast_sigmoid(o[k] + bo[k]);
    c[k] = f[k] * c_before[k] + i[k] * g[k];
    h[k] = o[k] * fast_tanh(c[k]);
  }
}

// Its derivative: `gates` come as i, f, g and o and become the gradient of the two products' sum; dc, the gradient of
// c, becomes that of c before. dy and dh are the two parts of the gradient of h: from outside, and from the next step.
void step_backward(int64_t hidden, const float* __restrict dy, const float* __restrict dh,
                   const float* __restrict c_before, const float* __restrict c, float* gates, float* __restrict dc) {
  float* __restrict i = gates;
  float* __restrict f = gates + hidden;
  float* __restrict g = gates + 2 * hidden;
  float* __restrict o = gates + 3 * hidden;
#pragma omp simd
  for (int64_t k = 0; k < hidden; ++k) {
    const float ik = i[k], fk = f[k], gk = g[k], ok = o[k], tc = fast_tanh(c[k]);
    const float from_h = dy[k] + dh[k];
    const float from_c = dc[k] + from_h * ok * (1 - tc * tc);
    i[k] = from_c * gk * ik * (1 - ik);
    f[k] = from_c * c_before[k] * fk * (1 - fk);
    g[k] = from_c * ik * (1 - gk * gk);
    o[k] = from_h * tc * ok * (1 - ok);
    dc[k] = from_c * fk;
  }
}

}  // namespace

void CpuBackend::lstm(const Tensor& x, const Tensor& weight, const Tensor& recurrent_weight, const Tensor& bias,
                      const Tensor& lengths, Tensor& y, Tensor& kept) {
  const Problem p(x, recurrent_weight, lengths);
  const int64_t hidden = p.hidden, four = 4 * hidden, cells = p.packing.cells();
  kept = Tensor::empty({cells, 5 * hidden});  // the gates of all cells, then their c
  float *gates = kept.data<float>(), *c = gates + cells * four;
  sgemm(false, true, cells, four, p.inputs, packed(p, x, 0).data<float>(), weight.data<float>(), 0, gates);

  // Rows whose distance is a power of two would share a few places of the cache: twice the time on AVX2.
  const int64_t row = four + 16;
  Tensor turned = Tensor::empty({hidden, row});
  transpose(recurrent_weight.data<float>(), hidden, turned.data<float>(), row);
  const float* u = turned.data<float>();

  const Tensor zeros = Tensor::zeros({hidden});
  Tensor state = Tensor::empty({p.sequences, hidden});
  float *h = state.data<float>(), *out = y.data<float>();
  if (!p.packing.whole()) y.fill(0);
  p.share_sequences([&](int64_t begin, int64_t end) {
    for (int64_t t = 0; t < p.steps; ++t) {
      const int64_t rows = p.running_of(t, begin, end), at = p.first(t) + begin;
      if (rows == 0) break;
      if (t > 0) sgemm(false, false, rows, four, hidden, h + begin * hidden, u, 1, gates + at * four, row);
      detail::split_range(rows * four, four, [&](int64_t from, int64_t to) {
        for (int64_t j = from / four; j < to / four; ++j) {
          const int64_t n = p.packing.order[static_cast<size_t>(begin + j)];
          float* place = out + (n * p.steps + t) * hidden;
          const float* c_before = t == 0 ? zeros.data<float>() : c + (p.first(t - 1) + begin + j) * hidden;
          step_forward(hidden, bias.data<float>(), gates + (at + j) * four, c_before, c + (at + j) * hidden, place);
          std::copy_n(place, hidden, h + (begin + j) * hidden);
        }
      });
    }
  });
}

void CpuBackend::lstm_backward(const Tensor& gradient, const Tensor& x, const Tensor& weight,
                               const Tensor& recurrent_weight, const Tensor& lengths, const Tensor& y, Tensor& kept,
                               Tensor& dx, Tensor& dweight, Tensor& drecurrent_weight, Tensor& dbias) {
  const Problem p(x, recurrent_weight, lengths);
  const int64_t hidden = p.hidden, four = 4 * hidden, cells = p.packing.cells();
  float* gates = kept.data<float>();  // become the gradient of the products' sums, cell by cell
  const float *c = gates + cells * four, *u = recurrent_weight.data<float>(), *dy = gradient.data<float>();

  const Tensor zeros = Tensor::zeros({hidden});
  Tensor from_next_h = Tensor::zeros({p.sequences, hidden}), from_next_c = Tensor::zeros({p.sequences, hidden});
  float *dh = from_next_h.data<float>(), *dc = from_next_c.data<float>();
  p.share_sequences([&](int64_t begin, int64_t end) {
    for (int64_t t = p.steps - 1; t >= 0; --t) {
      const int64_t rows = p.running_of(t, begin, end), at = p.first(t) + begin;
      if (rows == 0) continue;
      detail::split_range(rows * four, four, [&](int64_t from, int64_t to) {
        for (int64_t j = from / four; j < to / four; ++j) {
          const int64_t n = p.packing.order[static_cast<size_t>(begin + j)], state = (begin + j) * hidden;
          const float* c_before = t == 0 ? zeros.data<float>() : c + (p.first(t - 1) + begin + j) * hidden;
          step_backward(hidden, dy + (n * p.steps + t) * hidden, dh + state, c_before, c + (at + j) * hidden,
                        gates + (at + j) * four, dc + state);
        }
      });
      if (t > 0) sgemm(false, false, rows, hidden, four, gates + at * four, u, 0, dh + begin * hidden);
    }
  });

  const Tensor dgates = kept.as_strided({cells, four}, {four, 1}, kept.offset());
  sum(dgates, 1, cells, four, dbias);
  sgemm(true, false, four, hidden, cells, gates, packed(p, y, 1).data<float>(), 0, drecurrent_weight.data<float>());
  sgemm(true, false, four, p.inputs, cells, gates, packed(p, x, 0).data<float>(), 0, dweight.data<float>());
  if (!dx.defined()) return;
  Tensor rows = Tensor::empty({cells, p.inputs});
  sgemm(false, false, cells, p.inputs, four, gates, weight.data<float>(), 0, rows.data<float>());
  unpack(p, rows.data<float>(), dx);
}

}  // namespace tg
