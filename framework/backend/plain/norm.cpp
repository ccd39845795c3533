#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/backend/plain/plain.h"

namespace tg {
namespace {

// Mean and root of a row of layer normalisation.
template <class T>
struct RowStatistics {
  const T* row;
  T mean = 0, root = 0;  // root = 1 / sqrt(variance + epsilon)

  RowStatistics(const T* x, int64_t width, double epsilon) : row(x) {
    T variance = 0;
    for (int64_t c = 0; c < width; ++c) mean += x[c];
    mean /= static_cast<T>(width);
    for (int64_t c = 0; c < width; ++c) variance += (x[c] - mean) * (x[c] - mean);
    root = 1 / std::sqrt(variance / static_cast<T>(width) + static_cast<T>(epsilon));
  }
  T normalised(int64_t c) const { return (row[c] - mean) * root; }
};

struct ChannelWindow {
  int64_t first, last;  // [first, last)
};
// The channels in the window of channel c.
ChannelWindow window_of(int64_t c, int64_t channels, int64_t size) {
  return {std::max<int64_t>(0, c - size / 2), std::min(channels, c - size / 2 + size)};
}
// The channels whose windows have c.
ChannelWindow windows_with(int64_t c, int64_t channels, int64_t size) {
  return {std::max<int64_t>(0, c + size / 2 - size + 1), std::min(channels, c + size / 2 + 1)};
}

}  // namespace

void PlainBackend::batch_norm(const Tensor& x, const Tensor& scale, const Tensor& shift,
                              const BatchNormGeometry& geometry, Tensor& y, Tensor& mean, Tensor& variance,
                              Tensor& kept) {
  const int64_t channels = scale.count(), rows = x.count() / channels;
  visit_floating(x.dtype(), "batch_norm", [&](auto zero) {
    using T = decltype(zero);
    const T *px = x.data<T>(), *ps = scale.data<T>(), *pb = shift.data<T>();
    T *py = y.data<T>(), *pm = mean.data<T>(), *pv = variance.data<T>();
    const T n = static_cast<T>(rows), epsilon = static_cast<T>(geometry.epsilon);
    // Two passes: a difference of large squares would lose all digits of a small variance.
    std::fill(pm, pm + channels, T{0});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < channels; ++c) pm[c] += px[i * channels + c];
    for (int64_t c = 0; c < channels; ++c) pm[c] /= n;
    std::fill(pv, pv + channels, T{0});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        const T d = px[i * channels + c] - pm[c];
        pv[c] += d * d;
      }
    for (int64_t c = 0; c < channels; ++c) pv[c] /= n;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        const T v = ps[c] * (px[i * channels + c] - pm[c]) / std::sqrt(pv[c] + epsilon) + pb[c];
        py[i * channels + c] = geometry.relu && v < 0 ? T{0} : v;
      }
  });
  if (geometry.relu) kept = y.detach();
}

void PlainBackend::batch_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, const Tensor& mean,
                                       const Tensor& variance, const Tensor& kept, const BatchNormGeometry& geometry,
                                       Tensor& dx, Tensor& dscale, Tensor& dshift) {
  const int64_t channels = scale.count(), rows = x.count() / channels;
  visit_floating(x.dtype(), "batch_norm", [&](auto zero) {
    using T = decltype(zero);
    const T *pg = gradient.data<T>(), *px = x.data<T>(), *ps = scale.data<T>(), *pm = mean.data<T>(),
            *pv = variance.data<T>(), *pk = geometry.relu ? kept.data<T>() : nullptr;
    T *pdx = dx.data<T>(), *pds = dscale.data<T>(), *pdb = dshift.data<T>();
    const T n = static_cast<T>(rows), epsilon = static_cast<T>(geometry.epsilon);
    const auto g_at = [&](int64_t i) { return pk != nullptr && !(pk[i] > 0) ? T{0} : pg[i]; };
    const auto xhat_at = [&](int64_t i, int64_t c) { return (px[i] - pm[c]) / std::sqrt(pv[c] + epsilon); };
    std::fill(pds, pds + channels, T{0});
    std::fill(pdb, pdb + channels, T{0});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t at = i * channels + c;
        pdb[c] += g_at(at);
        pds[c] += g_at(at) * xhat_at(at, c);
      }
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t at = i * channels + c;
        pdx[at] = ps[c] / std::sqrt(pv[c] + epsilon) * (g_at(at) - pdb[c] / n - xhat_at(at, c) * pds[c] / n);
      }
  });
}

void PlainBackend::batch_norm_fixed(const Tensor& x, const Tensor& scale, const Tensor& shift, const Tensor& mean,
                                    const Tensor& variance, const BatchNormGeometry& geometry, Tensor& y) {
  const int64_t channels = scale.count(), rows = x.count() / channels;
  visit_floating(x.dtype(), "batch_norm_fixed", [&](auto zero) {
    using T = decltype(zero);
    const T *px = x.data<T>(), *ps = scale.data<T>(), *pb = shift.data<T>(), *pm = mean.data<T>(),
            *pv = variance.data<T>();
    T* py = y.data<T>();
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        const T root = std::sqrt(pv[c] + static_cast<T>(geometry.epsilon));
        const T v = ps[c] * (px[i * channels + c] - pm[c]) / root + pb[c];
        py[i * channels + c] = geometry.relu && v < 0 ? T{0} : v;
      }
  });
}

void PlainBackend::batch_norm_fixed_backward(const Tensor& gradient, const Tensor& x, const Tensor& y,
                                             const Tensor& scale, const Tensor& mean, const Tensor& variance,
                                             const BatchNormGeometry& geometry, Tensor& dx, Tensor& dscale,
                                             Tensor& dshift) {
  const int64_t channels = scale.count(), rows = x.count() / channels;
  visit_floating(x.dtype(), "batch_norm_fixed", [&](auto zero) {
    using T = decltype(zero);
    const T *pg = gradient.data<T>(), *px = x.data<T>(), *ps = scale.data<T>(), *pm = mean.data<T>(),
            *pv = variance.data<T>(), *py = geometry.relu ? y.data<T>() : nullptr;
    T *pdx = dx.data<T>(), *pds = dscale.data<T>(), *pdb = dshift.data<T>();
    std::fill(pds, pds + channels, T{0});
    std::fill(pdb, pdb + channels, T{0});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t at = i * channels + c;
        const T g = py != nullptr && !(py[at] > 0) ? T{0} : pg[at];
        const T root = std::sqrt(pv[c] + static_cast<T>(geometry.epsilon));
        pdb[c] += g;
        pds[c] += g * (px[at] - pm[c]) / root;
        pdx[at] = g * ps[c] / root;
      }
  });
}

void PlainBackend::layer_norm(const Tensor& x, const Tensor& scale, const Tensor& shift, double epsilon, Tensor& y) {
  const int64_t width = scale.count(), rows = x.count() / width;
  visit_floating(x.dtype(), "layer_norm", [&](auto zero) {
    using T = decltype(zero);
    const T *px = x.data<T>(), *ps = scale.data<T>(), *pb = shift.data<T>();
    T* py = y.data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      const RowStatistics<T> row(px + i * width, width, epsilon);
      for (int64_t c = 0; c < width; ++c) py[i * width + c] = ps[c] * row.normalised(c) + pb[c];
    }
  });
}

void PlainBackend::layer_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& scale, double epsilon,
                                       Tensor& dx, Tensor& dscale, Tensor& dshift) {
  const int64_t width = scale.count(), rows = x.count() / width;
  visit_floating(x.dtype(), "layer_norm", [&](auto zero) {
    using T = decltype(zero);
    const T *pg = gradient.data<T>(), *px = x.data<T>(), *ps = scale.data<T>();
    T *pdx = dx.data<T>(), *pds = dscale.data<T>(), *pdb = dshift.data<T>();
    std::fill(pds, pds + width, T{0});
    std::fill(pdb, pdb + width, T{0});
    for (int64_t i = 0; i < rows; ++i) {
      const RowStatistics<T> row(px + i * width, width, epsilon);
      const T* g = pg + i * width;
      T mean_h = 0, mean_h_xhat = 0;  // h = g scale
      for (int64_t c = 0; c < width; ++c) {
        pdb[c] += g[c];
        pds[c] += g[c] * row.normalised(c);
        mean_h += g[c] * ps[c];
        mean_h_xhat += g[c] * ps[c] * row.normalised(c);
      }
      mean_h /= static_cast<T>(width);
      mean_h_xhat /= static_cast<T>(width);
      for (int64_t c = 0; c < width; ++c)
        pdx[i * width + c] = row.root * (g[c] * ps[c] - mean_h - row.normalised(c) * mean_h_xhat);
    }
  });
}

namespace {

// n_c = k + alpha / size * sum of squares around c, for a row.
template <class T>
void denominators(const T* x, int64_t channels, const ResponseNormGeometry& g, std::vector<T>& n) {
  const T factor = static_cast<T>(g.alpha / static_cast<double>(g.size));
  n.resize(static_cast<size_t>(channels));
  for (int64_t c = 0; c < channels; ++c) {
    T squares = 0;
    const ChannelWindow w = window_of(c, channels, g.size);
    for (int64_t j = w.first; j < w.last; ++j) squares += x[j] * x[j];
    n[static_cast<size_t>(c)] = static_cast<T>(g.k) + factor * squares;
  }
}

}  // namespace

void PlainBackend::local_response_norm(const Tensor& x, const ResponseNormGeometry& geometry, Tensor& y) {
  const int64_t channels = x.dim(-1);
  visit_floating(x.dtype(), "local_response_norm", [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> n;
    for (int64_t at = 0; at < x.count(); at += channels) {
      const T* px = x.data<T>() + at;
      T* py = y.data<T>() + at;
      denominators(px, channels, geometry, n);
      for (int64_t c = 0; c < channels; ++c)
        py[c] = px[c] * std::pow(n[static_cast<size_t>(c)], static_cast<T>(-geometry.beta));
    }
  });
}

void PlainBackend::local_response_norm_backward(const Tensor& gradient, const Tensor& x,
                                                const ResponseNormGeometry& geometry, Tensor& dx) {
  const int64_t channels = x.dim(-1);
  visit_floating(x.dtype(), "local_response_norm", [&](auto zero) {
    using T = decltype(zero);
    const T beta = static_cast<T>(geometry.beta);
    const T factor = static_cast<T>(2 * geometry.alpha * geometry.beta / static_cast<double>(geometry.size));
    std::vector<T> n, share(static_cast<size_t>(channels));  // share_j = g_j x_j n_j^(-beta-1)
    for (int64_t at = 0; at < x.count(); at += channels) {
      const T *pg = gradient.data<T>() + at, *px = x.data<T>() + at;
      T* pdx = dx.data<T>() + at;
      denominators(px, channels, geometry, n);
      for (int64_t j = 0; j < channels; ++j) {
        const size_t i = static_cast<size_t>(j);
        share[i] = pg[j] * px[j] * std::pow(n[i], -beta - 1);
      }
      for (int64_t c = 0; c < channels; ++c) {
        T sum = 0;
        const ChannelWindow w = windows_with(c, channels, geometry.size);
        for (int64_t j = w.first; j < w.last; ++j) sum += share[static_cast<size_t>(j)];
        pdx[c] = pg[c] * std::pow(n[static_cast<size_t>(c)], -beta) - factor * px[c] * sum;
      }
    }
  });
}

}  // namespace tg
