// Cases of what residual networks are made of: normalisations, averaging pools, the sum at a block's end.

#include <fmt/format.h>

#include "framework/ops/elementwise.h"
#include "framework/ops/norm.h"
#include "framework/ops/pool.h"
#include "framework/ops/shape.h"
#include "tests/ops/cases.h"

namespace tg::test {

void add_norms(std::vector<OpCase>& cases) {
  using Inputs = std::vector<Tensor>;
  for (const Shape& shape : {Shape{4, 3}, Shape{2, 1}, Shape{2, 3, 2, 4}, Shape{1, 2, 5, 1}})
    for (const bool relu : {false, true}) {
      const std::vector<Input> inputs{{shape}, {{shape[shape.rank() - 1]}, 0.5, 1.5}, {{shape[shape.rank() - 1]}}};
      cases.push_back({fmt::format("batch_norm/{}{}", shape.str(), relu ? ", relu" : ""), inputs,
                       [=](const Inputs& x) { return batch_norm(x[0], x[1], x[2], {.relu = relu}); }});
    }
  cases.push_back({"batch_norm/large epsilon", {{{4, 3}}, {{3}}, {{3}}}, [](const Inputs& x) {
                     return batch_norm(x[0], x[1], x[2], {.epsilon = 0.5});
                   }});
  cases.push_back({"batch_norm/of a view", {{{3, 4}}, {{3}}, {{3}}}, [](const Inputs& x) {
                     return batch_norm(transpose2d(x[0]), x[1], x[2]);
                   }});
  for (const Shape& shape : {Shape{1, 3}, Shape{2, 3, 2, 4}})
    for (const bool relu : {false, true}) {
      const Shape channels{shape[shape.rank() - 1]};
      cases.push_back({fmt::format("batch_norm_fixed/{}{}", shape.str(), relu ? ", relu" : ""),
                       {{shape}, {channels, 0.5, 1.5}, {channels}},
                       [=](const Inputs& x) {
                         const DType dtype = x[0].dtype();
                         const Device on = x[0].device();
                         return batch_norm_fixed(x[0], x[1], x[2], fixed_tensor(7, {channels}, dtype, on),
                                                 fixed_tensor(8, {channels, 0.25, 2}, dtype, on),
                                                 {.epsilon = 0.125, .relu = relu});
                       }});
    }
  for (const Shape& shape : {Shape{4, 3}, Shape{1, 2}, Shape{2, 3, 5}})
    cases.push_back({"layer_norm/" + shape.str(),
                     {{shape}, {{shape[shape.rank() - 1]}}, {{shape[shape.rank() - 1]}}},
                     [](const Inputs& x) { return layer_norm(x[0], x[1], x[2], 1e-3); }});
  for (const int64_t size : {1, 2, 3, 5})
    cases.push_back({fmt::format("local_response_norm/size {}", size), {{{2, 2, 2, 7}}}, [size](const Inputs& x) {
                       return local_response_norm(x[0], {.size = size, .alpha = 0.5, .beta = 0.75, .k = 1.5});
                     }});
  cases.push_back({"local_response_norm/window wider than the channels", {{{3, 2}}}, [](const Inputs& x) {
                     return local_response_norm(x[0], {.size = 5, .alpha = 1, .beta = 0.5, .k = 1});
                   }});
  cases.push_back(
      {"add_relu/pictures", {{{2, 3, 2, 2}}, {{2, 3, 2, 2}}}, [](const Inputs& x) { return add_relu(x[0], x[1]); }});
  cases.push_back({"add_relu/of itself", {{{3, 4}}}, [](const Inputs& x) { return add_relu(x[0], x[0]); }});
  cases.push_back(
      {"add_relu/of a view", {{{3, 4}}, {{4, 3}}}, [](const Inputs& x) { return add_relu(transpose2d(x[0]), x[1]); }});
  for (const int64_t kernel : {1, 2, 3})
    for (const int64_t stride : {1, 2, 3})
      for (const int64_t padding : {0, 1})
        if (padding < kernel)
          cases.push_back({fmt::format("avg_pool2d/kernel {} stride {} padding {}", kernel, stride, padding),
                           {{{2, 5, 4, 3}}},
                           [=](const Inputs& x) {
                             return avg_pool2d(x[0], {kernel, stride, padding});
                           }});
}

}  // namespace tg::test
