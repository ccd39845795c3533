// Cases of the LSTM: sizes of one, lengths that differ, views, one tensor in two places.

#include "framework/ops/lstm.h"
#include "framework/ops/shape.h"
#include "tests/ops/cases.h"

namespace tg::test {

void add_lstms(std::vector<OpCase>& cases) {
  using Inputs = std::vector<Tensor>;
  const auto inputs = [](const Shape& x, int64_t hidden) {
    return std::vector<Input>{{x}, {{4 * hidden, x[2]}}, {{4 * hidden, hidden}}, {{4 * hidden}}};
  };
  const auto whole = [](const Inputs& x) { return lstm(x[0], x[1], x[2], x[3]); };
  cases.push_back({"lstm/[2, 3, 4] to 3", inputs({2, 3, 4}, 3), whole});
  cases.push_back({"lstm/one of everything", inputs({1, 1, 1}, 1), whole});
  cases.push_back({"lstm/one step", inputs({3, 1, 2}, 4), whole});
  cases.push_back({"lstm/one sequence", inputs({1, 5, 2}, 3), whole});
  cases.push_back({"lstm/wide", inputs({2, 2, 3}, 17), whole});
  const auto with_lengths = [](const std::vector<int32_t>& lengths) {
    return [lengths](const Inputs& x) {
      return lstm(x[0], x[1], x[2], x[3], Tensor::from(lengths, {static_cast<int64_t>(lengths.size())}, x[0].device()));
    };
  };
  cases.push_back({"lstm/lengths 2, 4, 1, 4", inputs({4, 4, 3}, 2), with_lengths({2, 4, 1, 4})});
  cases.push_back({"lstm/all shorter than the batch", inputs({2, 4, 1}, 3), with_lengths({2, 2})});
  cases.push_back({"lstm/of views", {{{3, 2, 2}}, {{2, 12}}, {{12, 3}}, {{24}}}, [](const Inputs& x) {
                     return lstm(transpose(x[0], {1, 0, 2}), transpose2d(x[1]), x[2], slice(x[3], 0, 12, 24));
                   }});
  cases.push_back({"lstm/two layers with the same weights", {{{2, 3, 2}}, {{8, 2}}, {{8}}}, [](const Inputs& x) {
                     return lstm(lstm(x[0], x[1], x[1], x[2]), x[1], x[1], x[2]);
                   }});
}

}  // namespace tg::test
