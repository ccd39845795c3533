// The LSTM layer and its models: sizes, initial values, sequences of different lengths, and whether they learn.

#include "framework/nn/lstm.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/autograd/grad_check.h"
#include "framework/core/for_each.h"
#include "framework/core/pool.h"
#include "framework/nn/models/models.h"
#include "framework/ops/ctc.h"
#include "framework/ops/loss.h"
#include "framework/ops/reduce.h"

using namespace tg;

namespace {

Model model_of(const char* text, const Shape& sample, int64_t classes) {
  return make_model(Spec::parse(text, model_infos(), "model"), sample, classes);
}

Tensor noise(const Shape& shape, const char* name, DType dtype = DType::f32, Device device = kCpu) {
  const Stream stream = Stream(3).split(name);
  std::vector<double> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(stream.normal(i));
  return Tensor::from(values, shape, device).to(dtype);
}

Tensor whole_numbers(const std::vector<int32_t>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

struct Descend {
  float eta;
  TG_HD void operator()(float& w, float g) const { w -= eta * g; }
};

// Steps of gradient descent; the loss of the last one.
double descend(Model& model, int steps, float eta, const std::function<Tensor()>& loss_of) {
  Tensor gradient = Tensor::zeros({model.layout().size()}), flat = model.parameters().flat;
  double last = 0;
  for (int i = 0; i < steps; ++i) {
    const Tensor loss = loss_of();
    last = loss.item();
    gradients(loss, model.parameters(), gradient.span());
    for_each(Descend{eta}, flat.span(), std::as_const(gradient).view());
  }
  return last;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lstm_models)

BOOST_AUTO_TEST_CASE(parameter_counts) {
  const auto layer = [](int64_t in, int64_t hidden) { return 4 * hidden * (in + hidden) + 4 * hidden; };
  BOOST_TEST(model_of("lstm", {50, 40}, 10).layout().count() == layer(40, 128) + 1290);
  BOOST_TEST(model_of("lstm", {28, 28, 1}, 10).layout().count() == layer(28, 128) + 1290);
  const int64_t speech = model_of("lstm-speech", {100, 40}, 29).layout().count();
  BOOST_TEST(speech == layer(40, 800) + 2 * layer(800, 800) + 29 * 801);
  BOOST_TEST(speech / 100'000 == 129);  // "13M" (Alistarh et al. 2017, table 1)
  const int64_t small = model_of("lstm-speech-small", {100, 40}, 29).layout().count();
  BOOST_TEST(small == layer(40, 320) + layer(320, 320) + 29 * 321);
  BOOST_TEST((small > 1'000'000 && small < 2'000'000));
}

BOOST_AUTO_TEST_CASE(initial_values) {
  Model model = model_of("lstm", {5, 40}, 2);
  model.bind_new(1);
  const auto values = [&](const char* name) {
    const auto& entries = model.layout().entries();
    for (size_t i = 0; i < entries.size(); ++i)
      if (entries[i].name == name) return model.parameters().leaves[i].values();
    throw std::out_of_range(name);
  };
  const auto bias = values("lstm.bias");
  for (size_t i = 0; i < bias.size(); ++i) BOOST_TEST(bias[i] == (i / 128 == 1 ? 1 : 0), i);
  for (const char* name : {"lstm.weight", "lstm.recurrent_weight"}) {
    double largest = 0;
    for (const double v : values(name)) largest = std::max(largest, std::abs(v));
    BOOST_TEST((largest <= 1 / std::sqrt(128.0) && largest > 0.95 / std::sqrt(128.0)), name << ": " << largest);
  }
}

BOOST_AUTO_TEST_CASE(gradients_of_sequences_of_different_lengths) {
  const auto random = [](const Shape& shape, const char* name) { return noise(shape, name, DType::f64, kPlain); };
  const Context context{.lengths = whole_numbers({3, 1, 2}).to(kPlain)};
  Lstm first({.in = 2, .hidden = 3}), second({.in = 3, .hidden = 2});
  BOOST_CHECK_NO_THROW(grad_check("two layers",
                                  [&](const std::vector<Tensor>& in) {
                                    first.weight.value = in[1], first.recurrent_weight.value = in[2],
                                    first.bias.value = in[3];
                                    second.weight.value = in[4], second.recurrent_weight.value = in[5],
                                    second.bias.value = in[6];
                                    return last_steps(second(first(in[0], context), context), context.lengths);
                                  },
                                  {random({3, 3, 2}, "x"), random({12, 2}, "w1"), random({12, 3}, "u1"),
                                   random({12}, "b1"), random({8, 3}, "w2"), random({8, 2}, "u2"), random({8}, "b2")}));
}

BOOST_AUTO_TEST_CASE(a_padded_batch_is_each_sequence_alone) {
  for (const char* name : {"lstm", "lstm-speech-small"}) {
    Model model = model_of(name, {7, 4}, 3);
    model.bind_new(1);
    const NoGrad no_grad;
    const Tensor x = noise({3, 7, 4}, "x");
    const std::vector<int32_t> lengths{4, 7, 1};
    const auto together = model(x, {.lengths = whole_numbers(lengths)}).values();
    for (size_t n = 0; n < 3; ++n) {
      const Tensor alone =
          x.as_strided({1, lengths[n], 4}, row_major({1, lengths[n], 4}), static_cast<int64_t>(n) * 28);
      const auto one = model(alone, {}).values();
      for (size_t k = 0; k < one.size(); ++k)
        BOOST_TEST(std::abs(together[n * (together.size() / 3) + k] - one[k]) < 1e-5, name << ", sequence " << n);
    }
  }
}

BOOST_AUTO_TEST_CASE(pictures_are_read_row_by_row) {
  Model model = model_of("lstm", {3, 4, 2}, 5);
  model.bind_new(1);
  const Tensor x = noise({2, 3, 4, 2}, "x");
  BOOST_TEST((model(x, {}).values() == model(x.with_shape({2, 3, 8}), {}).values()));
}

BOOST_AUTO_TEST_CASE(errors_name_the_layer) {
  Model model = model_of("lstm", {50, 40}, 10);
  model.bind_new(1);
  const auto message = [&](const Shape& x, const Context& context) {
    return message_of([&] { model(Tensor::zeros(x), context); });
  };
  const auto has = [](const std::string& text, const char* part) {
    BOOST_TEST(text.find(part) != std::string::npos, "no \"" << part << "\" in: " << text);
  };
  has(message({2, 50, 41}, {}), "lstm: Lstm takes [N, T, 40], got [2, 50, 41]");
  has(message({2, 50}, {}), "rows: takes sequences [N, T, F] or pictures [N, H, W, C], got [2, 50]");
  has(message({2, 50, 40}, {.lengths = whole_numbers({50, 51})}), "length 51 of sequence 1");
  has(message({2, 50, 40}, {.lengths = whole_numbers({50})}), "int32 [2]");
  for (const Shape& sample : {Shape{40}, Shape{0, 40}, Shape{1, 2, 3, 4}})
    has(message_of([&] { model_of("lstm", sample, 10); }), "takes sequences [T, F]");
}

// Which of 4 places was marked is a matter of memory: the mark is 5 to 8 steps before the end.
BOOST_AUTO_TEST_CASE(an_lstm_remembers) {
  Model model = model_of("lstm", {8, 1}, 4);
  model.bind_new(1);
  Tensor x = Tensor::zeros({4, 8, 1}), labels = whole_numbers({0, 1, 2, 3});
  for (int64_t n = 0; n < 4; ++n) x.data<float>()[n * 8 + n] = 4;
  const double loss = descend(model, 100, 1, [&] { return cross_entropy(model(x, {}), labels); });
  BOOST_TEST(loss < 0.1);
}

BOOST_AUTO_TEST_CASE(last_steps_of_lengths_that_cannot_be) {
  const Tensor h = Tensor::zeros({2, 3, 4});
  BOOST_CHECK_THROW(last_steps(h, Tensor::from<int32_t>({1, 4}, {2})), Error);
  BOOST_CHECK_THROW(last_steps(h, Tensor::from<int32_t>({0, 3}, {2})), Error);
  BOOST_CHECK_THROW(last_steps(h, Tensor::from<int32_t>({1}, {1})), Error);
  BOOST_CHECK_THROW(last_steps(Tensor::zeros({2, 3}), {}), Error);
}

BOOST_AUTO_TEST_CASE(a_speech_model_learns_by_ctc_from_sequences_of_different_lengths) {
  Model model = model_of("lstm-speech-small", {12, 4}, 4);
  model.bind_new(1);
  const Tensor x = noise({3, 12, 4}, "x"), lengths = whole_numbers({12, 7, 9});
  const Tensor labels = Tensor::from<int32_t>({1, 2, 3, 2, 2, 0, 3, 1, 0}, {3, 3}), counts = whole_numbers({3, 2, 2});
  const auto loss = [&] { return ctc_loss(model(x, {.lengths = lengths}), labels, lengths, counts); };
  const double first = loss().item(), last = descend(model, 60, 0.5f, loss);
  BOOST_TEST(last < first / 4);
}

BOOST_AUTO_TEST_CASE(memory_stays_flat) {
  Model model = model_of("lstm", {9, 6}, 3);
  model.bind_new(1);
  const Tensor x = noise({5, 9, 6}, "x"), labels = whole_numbers({0, 1, 2, 0, 1}),
               lengths = whole_numbers({9, 1, 3, 9, 4});
  const auto loss = [&] { return cross_entropy(model(x, {.lengths = lengths}), labels); };
  descend(model, 5, 0.1f, loss);
  const auto before = pool::stats();
  descend(model, 200, 0.1f, loss);
  BOOST_TEST(pool::stats().live == before.live);
  BOOST_TEST(pool::stats().system_calls == before.system_calls);
}

BOOST_AUTO_TEST_SUITE_END()
