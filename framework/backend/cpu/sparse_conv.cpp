#include "framework/backend/cpu/sparse_conv.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/core/for_each.h"

namespace tg::sparse_conv {
namespace {

struct Sizes {
  int64_t n, h, w, c, k, r, s, oh, ow, stride, padding;
};

Sizes sizes_of(const Shape& x, const Shape& weight, const Shape& gradient, const ConvGeometry& g) {
  return {x[0], x[1], x[2], x[3], weight[0], weight[1], weight[2], gradient[1], gradient[2], g.stride, g.padding};
}

// The gradient's values that are not zero, for some output rows of one picture, filter by filter.
class NonZeros {
 public:
  struct Value {
    int32_t row, column;  // in the output
    float value;
  };

  NonZeros(const Sizes& z, int64_t first_filter, int64_t filters)
      : z_(z),
        first_filter_(first_filter),
        rows_(std::clamp<int64_t>(kMostValues / (z.ow * filters), 1, z.oh)),
        values_(static_cast<size_t>(rows_ * z.ow * filters)),
        counts_(static_cast<size_t>(filters)) {}

  int64_t rows() const { return rows_; }  // of a band

  // Collects output rows [row, row + rows()) of a picture's gradient [OH, OW, K].
  void collect(const float* picture, int64_t row) {
    std::fill(counts_.begin(), counts_.end(), 0);
    const int64_t room = rows_ * z_.ow;
    for (int64_t i = row; i < std::min(row + rows_, z_.oh); ++i)
      for (int64_t j = 0; j < z_.ow; ++j) {
        const float* from = picture + (i * z_.ow + j) * z_.k + first_filter_;
        for (size_t k = 0; k < counts_.size(); ++k) {
          // Written always and kept by the count: a branch here would be mispredicted.
          values_[k * static_cast<size_t>(room) + static_cast<size_t>(counts_[k])] = {static_cast<int32_t>(i),
                                                                                      static_cast<int32_t>(j), from[k]};
          counts_[k] += from[k] != 0;
        }
      }
  }

  // Those of the filter that lies `k` after the first.
  std::span<const Value> of(int64_t k) const {
    return {values_.data() + k * rows_ * z_.ow, static_cast<size_t>(counts_[static_cast<size_t>(k)])};
  }

 private:
  static constexpr int64_t kMostValues = 1 << 14;  // 192 KiB, in the second-level cache

  Sizes z_;
  int64_t first_filter_, rows_;
  std::vector<Value> values_;
  std::vector<int32_t> counts_;
};

void add_multiple(float* __restrict to, const float* __restrict from, float factor, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] = std::fma(factor, from[i], to[i]);
}

// Calls body(kernel offset, picture offset, count) for each row of the kernel: the part of a kernel [R, S, C] and of a
// picture [H, W, C] that lie over each other at an output position. Both are contiguous.
template <class Body>
void overlaps(const Sizes& z, int64_t out_row, int64_t out_column, const Body& body) {
  const int64_t top = out_row * z.stride - z.padding, left = out_column * z.stride - z.padding;
  const int64_t s0 = std::max<int64_t>(0, -left), s1 = std::min(z.s, z.w - left);
  const int64_t r1 = std::min(z.r, z.h - top);
  for (int64_t r = std::max<int64_t>(0, -top); r < r1; ++r)
    body((r * z.s + s0) * z.c, ((top + r) * z.w + left + s0) * z.c, (s1 - s0) * z.c);
}

// The share of non-zeros at which these kernels take oneDNN's time. In units of one of its multiplications, a value of
// the gradient costs oneDNN R S C, with C and K filled up to its vectors of 16 (few channels alone have their own
// kernel), and costs us kLook, then, if it is no zero, kValue, and kRow for each row of the kernel beside twice its
// length. Fitted to 25 layers of known networks, one thread, AVX-512.
double most_non_zeros(const Shape& weight) {
  constexpr double kLook = 80, kValue = 700, kRow = 60;
  const int64_t k = weight[0], c = weight[3];
  const auto filled = [](int64_t channels) { return static_cast<double>((channels + 15) / 16 * 16); };
  const auto rows = static_cast<double>(weight[1]), columns = static_cast<double>(weight[2]);
  const double theirs =
      rows * columns * (c < 16 ? static_cast<double>(c) : filled(c)) * filled(k) / static_cast<double>(k);
  return (theirs - kLook) / (kValue + rows * (kRow + 2 * columns * static_cast<double>(c)));
}

}  // namespace

bool pays(const Tensor& gradient, const Shape& weight, const ConvGeometry& geometry) {
  constexpr int64_t kBlocks = 64, kBlock = 64;
  if (geometry.groups != 1 || geometry.dilation != 1) return false;
  const int64_t n = gradient.count();
  if (n < kBlocks * kBlock) return false;
  const double most = std::min(0.3, most_non_zeros(weight));
  if (most <= 0) return false;
  const float* values = gradient.data<float>();
  int64_t others = 0;
  for (int64_t block = 0; block < kBlocks; ++block) {
    const float* from = values + (n - kBlock) / (kBlocks - 1) * block;
    others += std::count_if(from, from + kBlock, [](float v) { return v != 0; });
  }
  return static_cast<double>(others) <= most * kBlocks * kBlock;
}

void backward_data(const Tensor& gradient, const Tensor& weight, const ConvGeometry& geometry, Tensor& dx) {
  const Sizes z = sizes_of(dx.shape(), weight.shape(), gradient.shape(), geometry);
  const float *from = gradient.data<float>(), *kernels = weight.data<float>();
  float* to = dx.data<float>();
  const int64_t picture = z.h * z.w * z.c, kernel = z.r * z.s * z.c;
  detail::split_range(dx.count(), picture, [&](int64_t begin, int64_t end) {
    std::fill(to + begin, to + end, 0.0f);
    NonZeros non_zeros(z, 0, z.k);
    for (int64_t n = begin / picture; n < end / picture; ++n)
      for (int64_t row = 0; row < z.oh; row += non_zeros.rows()) {
        non_zeros.collect(from + n * z.oh * z.ow * z.k, row);
        for (int64_t k = 0; k < z.k; ++k)
          for (const NonZeros::Value& v : non_zeros.of(k))
            overlaps(z, v.row, v.column, [&](int64_t in_kernel, int64_t in_picture, int64_t count) {
              add_multiple(to + n * picture + in_picture, kernels + k * kernel + in_kernel, v.value, count);
            });
      }
  });
}

void backward_weights(const Tensor& x, const Tensor& gradient, const ConvGeometry& geometry, Tensor& dweight,
                      Tensor& dbias) {
  const Sizes z = sizes_of(x.shape(), dweight.shape(), gradient.shape(), geometry);
  const float *pictures = x.data<float>(), *from = gradient.data<float>();
  float *to = dweight.data<float>(), *bias = dbias.defined() ? dbias.data<float>() : nullptr;
  const int64_t picture = z.h * z.w * z.c, kernel = z.r * z.s * z.c;
  // By the gradient's size, which says how much work a filter is; dweight may be small.
  const int64_t positions = z.n * z.oh * z.ow;
  detail::split_range(gradient.count(), positions, [&](int64_t begin, int64_t end) {
    const int64_t first = begin / positions, filters = (end - begin) / positions;
    std::fill(to + first * kernel, to + (first + filters) * kernel, 0.0f);
    if (bias) std::fill(bias + first, bias + first + filters, 0.0f);
    NonZeros non_zeros(z, first, filters);
    for (int64_t n = 0; n < z.n; ++n)
      for (int64_t row = 0; row < z.oh; row += non_zeros.rows()) {
        non_zeros.collect(from + n * z.oh * z.ow * z.k, row);
        for (int64_t k = 0; k < filters; ++k)
          for (const NonZeros::Value& v : non_zeros.of(k)) {
            if (bias) bias[first + k] += v.value;
            overlaps(z, v.row, v.column, [&](int64_t in_kernel, int64_t in_picture, int64_t count) {
              add_multiple(to + (first + k) * kernel + in_kernel, pictures + n * picture + in_picture, v.value, count);
            });
          }
      }
  });
}

}  // namespace tg::sparse_conv
