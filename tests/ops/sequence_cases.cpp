// Cases of what sequences need: joining, padding, gathering, dropout, losses with options.

#include <fmt/format.h>

#include "framework/ops/ctc.h"
#include "framework/ops/dropout.h"
#include "framework/ops/join.h"
#include "framework/ops/loss.h"
#include "framework/ops/shape.h"
#include "tests/ops/cases.h"

namespace tg::test {
namespace {

struct Speech {
  Shape logits;
  std::vector<int32_t> labels, input_lengths, label_lengths;
};

// 9 in the labels is padding that nothing may look at.
void add_ctc(std::vector<OpCase>& cases) {
  const auto add = [&](const std::string& what, const Speech& s) {
    cases.push_back({"ctc_loss/" + what, {{s.logits, -3, 3}}, [s](const std::vector<Tensor>& x) {
                       const int64_t n = s.logits[0], longest = static_cast<int64_t>(s.labels.size()) / n;
                       const Device on = x[0].device();
                       return ctc_loss(x[0], Tensor::from(s.labels, {n, longest}, on),
                                       Tensor::from(s.input_lengths, {n}, on), Tensor::from(s.label_lengths, {n}, on));
                     }});
  };
  add("different lengths", {{3, 6, 4}, {1, 2, 3, 2, 9, 9, 3, 1, 9}, {6, 4, 5}, {3, 1, 2}});
  add("repeats", {{2, 7, 3}, {1, 1, 1, 2, 2, 1}, {7, 6}, {3, 3}});
  add("just enough steps", {{2, 3, 3}, {1, 1, 1, 2}, {3, 2}, {2, 2}});
  add("blanks alone", {{2, 4, 3}, {9, 2}, {3, 4}, {0, 1}});
  add("no labels at all", {{2, 3, 2}, {}, {3, 1}, {0, 0}});
  add("one step", {{1, 1, 5}, {4}, {1}, {1}});
}

}  // namespace

void add_sequences(std::vector<OpCase>& cases) {
  using Inputs = std::vector<Tensor>;
  for (const int axis : {0, 1, -1})
    cases.push_back({fmt::format("concat/axis {}", axis),
                     {{{2, 3, 4}}, {{2, 3, 4}}, {{2, 3, 4}}},
                     [axis](const Inputs& x) { return concat(x, axis); }});
  cases.push_back(
      {"concat/different sizes", {{{2, 3}}, {{2, 0}}, {{2, 4}}}, [](const Inputs& x) { return concat(x, 1); }});
  cases.push_back({"concat/one tensor twice", {{{2, 3}}}, [](const Inputs& x) { return concat({x[0], x[0]}, 0); }});
  cases.push_back({"concat/of a split", {{{5, 2}}}, [](const Inputs& x) {
                     const std::vector<Tensor> parts = split(x[0], 0, {1, 3, 1});
                     return concat({parts[2], parts[0], transpose2d(transpose2d(parts[1]))}, 0);
                   }});
  cases.push_back({"pad/rows", {{{2, 3}}}, [](const Inputs& x) { return pad(x[0], 0, 1, 2, 0.5); }});
  cases.push_back(
      {"pad/last axis of a view", {{{2, 3}}}, [](const Inputs& x) { return pad(transpose2d(x[0]), -1, 2, 0); }});
  const auto places = [](const Inputs& x, const std::vector<int32_t>& index) {
    return Tensor::from(index, {static_cast<int64_t>(index.size())}, x[0].device());
  };
  cases.push_back({"gather/rows, one twice", {{{4, 3}}}, [=](const Inputs& x) {
                     return gather(x[0], 0, places(x, {2, 0, 2}));
                   }});
  cases.push_back({"gather/middle axis", {{{2, 3, 2}}}, [=](const Inputs& x) {
                     return gather(x[0], 1, places(x, {1, 1, 0, 2, 1}));
                   }});
  cases.push_back({"gather/last axis of a view", {{{4, 3}}}, [=](const Inputs& x) {
                     return gather(transpose2d(x[0]), -1, places(x, {3, 1}));
                   }});
  cases.push_back(
      {"gather/embedding", {{{5, 2}}}, [](const Inputs& x) {
         return reshape(embedding(x[0], Tensor::from<int32_t>({4, 0, 1, 1, 4, 4}, {2, 3}, x[0].device())), {12});
       }});
  for (const double rate : {0.2, 0.7})
    cases.push_back({fmt::format("dropout/rate {}", rate), {{{5, 7}}}, [rate](const Inputs& x) {
                       return dropout(x[0], rate, Stream(3).split("dropout"));
                     }});
  const auto labels = [](const Inputs& x) { return Tensor::from<int32_t>({1, 0, 4, 2}, {4}, x[0].device()); };
  cases.push_back({"cross_entropy/label smoothing", {{{4, 5}}}, [=](const Inputs& x) {
                     return cross_entropy(x[0], labels(x), {.label_smoothing = 0.25});
                   }});
  cases.push_back({"cross_entropy/ignored rows", {{{4, 5}}}, [=](const Inputs& x) {
                     return cross_entropy(x[0], labels(x), {.label_smoothing = 0.1, .ignore = 4});
                   }});
  add_ctc(cases);
  cases.push_back({"mean/squared difference", {{{3, 4}}, {{3, 4}}}, [](const Inputs& x) { return mse(x[0], x[1]); }});
}

}  // namespace tg::test
