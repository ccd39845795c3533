// Products by oneDNN's sgemm: row-major, no primitive to build, right under many callers at once.

#include "framework/backend/cpu/cpu.h"
#include "framework/backend/cpu/onednn.h"
#include "framework/backend/cpu/sgemm.h"
#include "framework/core/for_each.h"

namespace tg {

void sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
           float beta, float* c, int64_t b_row) {
  if (b_row == 0) b_row = transpose_b ? k : n;
  onednn::team();
  const dnnl_status_t status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a,
                                          transpose_a ? m : k, b, b_row, beta, c, n);
  require(status == dnnl_success, "matmul: oneDNN refused a product of {} x {} x {} (status {})", m, n, k,
          static_cast<int>(status));
}

namespace {

// Adds the bias to every row and clips at zero, both as asked.
template <bool kRelu>
void finish_rows(float* y, const float* bias, int64_t rows, int64_t columns) {
  detail::split_range(rows * columns, columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin / columns; r < end / columns; ++r) {
      float* __restrict out = y + r * columns;
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) {
        const float v = out[c] + (bias == nullptr ? 0.0f : bias[c]);
        out[c] = kRelu && !(v > 0 || v != v) ? 0.0f : v;
      }
    }
  });
}

}  // namespace

void CpuBackend::matmul(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, Tensor& out) {
  const int64_t m = out.dim(0), n = out.dim(1), k = transpose_a ? a.dim(0) : a.dim(1);
  if (m == 0 || n == 0) return;
  if (k == 0) return out.fill(0);
  sgemm(transpose_a, transpose_b, m, n, k, a.data<float>(), b.data<float>(), 0, out.data<float>());
}

void CpuBackend::linear(const Tensor& x, const Tensor& weight, const Tensor& bias, bool relu, Tensor& y) {
  matmul(x, false, weight, true, y);
  const float* b = bias.defined() ? bias.data<float>() : nullptr;
  if (relu) {
    finish_rows<true>(y.data<float>(), b, y.dim(0), y.dim(1));
  } else if (b != nullptr) {
    finish_rows<false>(y.data<float>(), b, y.dim(0), y.dim(1));
  }
}

}  // namespace tg
