#include "dist/probe/sharpness.h"

#include <cmath>

#include "framework/core/error.h"
#include "framework/core/tensor.h"

namespace tg {
namespace {

constexpr int kIterations = 30;
constexpr double kStep = 1e-2;  // the distance of the two gradients' points: float32's noise stays far below it

double dot(View a, View b) {
  double sum = 0;
  for (int64_t i = 0; i < a.size; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

double sharpness(const Task& task, View at, uint64_t seed, int64_t batches) {
  require(batches >= 1, "sharpness: of {} batches", batches);
  const int64_t n = at.size;
  Tensor point = Tensor::zeros({n}), one = Tensor::zeros({n}), here = Tensor::zeros({n}), there = Tensor::zeros({n}),
         direction = Tensor::zeros({n});
  const auto gradient = [&](Span sum) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int64_t b = 0; b < batches; ++b) {
      task.gradient(point.view(), seed, b, Stream(seed).split("sharpness", static_cast<uint64_t>(b)), one.span());
      for (int64_t i = 0; i < n; ++i) sum[i] += one.view()[i] / static_cast<float>(batches);
    }
  };
  const Stream draw = Stream(seed).split("sharpness");
  for (const Layout::Entry& entry : task.layout().entries())
    for (int64_t i = entry.offset; i < entry.offset + entry.shape.count(); ++i)
      direction.span()[i] = draw.normal(static_cast<uint64_t>(i));

  std::copy(at.begin(), at.end(), point.span().begin());
  gradient(here.span());
  double eigenvalue = 0;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double length = std::sqrt(dot(direction.view(), direction.view()));
    if (!(length > 0)) return 0;
    for (int64_t i = 0; i < n; ++i) {
      direction.span()[i] = static_cast<float>(static_cast<double>(direction.view()[i]) / length);
      point.span()[i] = at[i] + static_cast<float>(kStep) * direction.view()[i];
    }
    gradient(there.span());
    Tensor product = Tensor::zeros({n});  // the Hessian times the direction
    for (int64_t i = 0; i < n; ++i) product.span()[i] = (there.view()[i] - here.view()[i]) / static_cast<float>(kStep);
    eigenvalue = dot(direction.view(), product.view());
    direction = product;
  }
  return eigenvalue;
}

}  // namespace tg
