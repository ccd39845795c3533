// CTC loss against a sum over all paths, at its edges, and with input that would poison a batch.
#include <omp.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "framework/autograd/graph.h"
#include "framework/core/random.h"
#include "framework/ops/ctc.h"
#include "framework/ops/loss.h"
#include "framework/ops/shape.h"

namespace {

using namespace tg;
using Label = std::vector<int32_t>;

Tensor random_logits(const Shape& shape, DType dtype, Device device) {
  const Stream stream = Stream(5).split("logits");
  std::vector<double> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 2 * static_cast<double>(stream.normal(i));
  return Tensor::from(values, shape, device).to(dtype);
}

Tensor ints(const std::vector<int32_t>& values, const Shape& shape, Device device) {
  return Tensor::from(values, shape, device);
}

// The loss of one sample whose steps all count.
Tensor loss_of(const Tensor& logits, const Label& label) {
  const Device on = logits.device();
  const auto length = static_cast<int32_t>(label.size());
  return ctc_loss(logits, ints(label, {1, length}, on), ints({static_cast<int32_t>(logits.dim(1))}, {1}, on),
                  ints({length}, {1}, on));
}

// Repeated classes once, then no blanks.
Label read(const Label& path) {
  Label label;
  for (size_t t = 0; t < path.size(); ++t)
    if (path[t] != 0 && (t == 0 || path[t] != path[t - 1])) label.push_back(path[t]);
  return label;
}

// Probability of each label that `steps` steps can say, from every path there is.
std::map<Label, double> by_all_paths(const Tensor& logits) {
  const int64_t steps = logits.dim(1), classes = logits.dim(2);
  const auto log_y = log_softmax(reshape(logits, {steps, classes})).values();
  std::map<Label, double> found;
  Label path(static_cast<size_t>(steps));
  for (int64_t n = 0; n < static_cast<int64_t>(std::pow(classes, steps)); ++n) {
    double log_p = 0;
    int64_t rest = n;
    for (size_t t = 0; t < path.size(); ++t, rest /= classes) {
      path[t] = static_cast<int32_t>(rest % classes);
      log_p += log_y[t * static_cast<size_t>(classes) + static_cast<size_t>(path[t])];
    }
    found[read(path)] += std::exp(log_p);
  }
  return found;
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

BOOST_AUTO_TEST_SUITE(ctc)

BOOST_AUTO_TEST_CASE(the_sum_over_all_paths) {
  for (const int64_t classes : {2, 3, 4})
    for (const int64_t steps : {1, 2, 3, 5}) {
      const Tensor logits = random_logits({1, steps, classes}, DType::f64, kPlain);
      double total = 0;
      for (const auto& [label, p] : by_all_paths(logits)) {
        BOOST_TEST(loss_of(logits, label).item() == -std::log(p), boost::test_tools::tolerance(1e-12));
        total += p;
      }
      BOOST_TEST(total == 1, boost::test_tools::tolerance(1e-12));
    }
}

// With equal logits every path has the same probability; for a label without repeats C(steps + length, 2 length) of
// them say it. The probability of 2000 steps is e^-2000 and less.
BOOST_AUTO_TEST_CASE(counting_paths_of_many_steps) {
  for (const Device device : {kPlain, kCpu})
    for (const int64_t steps : {10, 500, 2000}) {
      const Tensor logits = Tensor::zeros({1, steps, 5}, DType::f32, device);
      for (const Label& label : {Label{}, Label{3}, Label{1, 2, 4}}) {
        double log_paths = 0;
        const auto length = static_cast<double>(label.size()), all = static_cast<double>(steps) + length;
        for (double i = 0; i < 2 * length; ++i) log_paths += std::log((all - i) / (i + 1));
        const double expected = static_cast<double>(steps) * std::log(5.0) - log_paths;
        BOOST_TEST(loss_of(logits, label).item() == expected, boost::test_tools::tolerance(1e-6));
      }
    }
}

BOOST_AUTO_TEST_CASE(large_logits) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const Device device : {kPlain, kCpu}) {
      // The steps say 1, blank, 1 without a doubt.
      const Tensor logits =
          leaf(Tensor::from<float>({-1000, 1000, 0, 1000, -1000, 0, -1000, 1000, 0}, {1, 3, 3}, device).to(dtype));
      const auto gradient_of = [&](const Tensor& loss) {
        return gradients(loss, {logits}, Tensor::full({}, 1, dtype, device))[0].values();
      };
      const Tensor right = loss_of(logits, {1, 1}), wrong = loss_of(logits, {1});
      BOOST_TEST(right.item() == 0);
      for (const double g : gradient_of(right)) BOOST_TEST(g == 0);
      // Any one of the steps may be the other class, which has probability e^-2000.
      BOOST_TEST(wrong.item() == 2000 - std::log(3.0), boost::test_tools::tolerance(1e-6));
      for (const double g : gradient_of(wrong)) BOOST_TEST((std::isfinite(g) && std::abs(g) <= 1));
    }
}

BOOST_AUTO_TEST_CASE(a_batch_is_the_mean_of_its_samples) {
  const Tensor logits = random_logits({3, 6, 4}, DType::f64, kPlain);
  const std::vector<Label> labels{{1, 2, 3}, {2, 2}, {}};
  const std::vector<int32_t> steps{6, 4, 5};
  double sum = 0;
  for (size_t n = 0; n < 3; ++n) {
    const Tensor alone = slice(slice(logits, 0, static_cast<int64_t>(n), static_cast<int64_t>(n) + 1), 1, 0, steps[n]);
    sum += loss_of(alone, labels[n]).item();
  }
  const Tensor loss = ctc_loss(logits, ints({1, 2, 3, 2, 2, 0, 0, 0, 0}, {3, 3}, kPlain), ints(steps, {3}, kPlain),
                               ints({3, 2, 0}, {3}, kPlain));
  BOOST_TEST(loss.item() == sum / 3, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(padding_is_not_looked_at) {
  for (const Device device : {kPlain, kCpu}) {
    Tensor values = random_logits({2, 5, 3}, DType::f32, device);
    const auto result = [&](int32_t label) {
      const Tensor x = leaf(values);
      const Tensor loss =
          ctc_loss(x, ints({1, 2, 1, label}, {2, 2}, device), ints({5, 2}, {2}, device), ints({2, 1}, {2}, device));
      auto all = gradients(loss, {x}, Tensor::full({}, 1, DType::f32, device))[0].values();
      all.push_back(loss.item());
      return all;
    };
    const auto before = result(2);
    for (int64_t i = 5 * 3 + 2 * 3; i < values.count(); ++i) {
      BOOST_TEST(before[static_cast<size_t>(i)] == 0);
      values.data<float>()[i] = NAN;
    }
    BOOST_TEST((result(-77) == before));
  }
}

BOOST_AUTO_TEST_CASE(threads_change_no_bit) {
  const int before = omp_get_max_threads();
  const int64_t n = 16, steps = 60;
  std::vector<int32_t> labels, lengths, used;
  for (int32_t i = 0; i < n * 12; ++i) labels.push_back(1 + (7 * i + i / 5) % 9);
  for (int32_t i = 0; i < n; ++i) lengths.push_back(i % 13), used.push_back(60 - 2 * i);
  const Tensor x = leaf(random_logits({n, steps, 10}, DType::f32, kCpu));
  const auto result = [&](int threads) {
    omp_set_num_threads(threads);
    const Tensor loss = ctc_loss(x, ints(labels, {n, 12}, kCpu), ints(used, {n}, kCpu), ints(lengths, {n}, kCpu));
    auto all = gradients(loss, {x}, Tensor::full({}, 1))[0].values();
    all.push_back(loss.item());
    return all;
  };
  const auto one = result(1);
  for (const int threads : {2, 3, 8}) BOOST_TEST((result(threads) == one), threads << " threads");
  omp_set_num_threads(before);
}

BOOST_AUTO_TEST_CASE(bad_requests) {
  const Tensor logits = Tensor::zeros({2, 3, 4});
  const auto says = [&](const Label& labels, const std::vector<int32_t>& steps, const std::vector<int32_t>& lengths,
                        const std::vector<std::string>& parts) {
    const std::string message = message_of([&] {
      ctc_loss(logits, ints(labels, {2, 3}, kCpu), ints(steps, {2}, kCpu), ints(lengths, {2}, kCpu));
    });
    for (const std::string& part : parts)
      BOOST_TEST(message.find(part) != std::string::npos, "no \"" << part << "\" in: " << message);
  };
  const Label good{1, 2, 3, 3, 2, 1};
  says({1, 2, 3, 3, 0, 1}, {3, 3}, {3, 3}, {"sample 1", "label 0", "position 1", "blank"});
  says({1, 4, 3, 3, 2, 1}, {3, 3}, {3, 3}, {"sample 0", "label 4", "1 to 3"});
  says({1, 2, -1, 3, 2, 1}, {3, 3}, {3, 3}, {"sample 0", "label -1"});
  says(good, {0, 3}, {0, 3}, {"sample 0", "input length of 0", "1 to 3"});
  says(good, {3, 4}, {3, 3}, {"sample 1", "input length of 4"});
  says(good, {3, INT32_MIN}, {3, 3}, {"sample 1", "input length of -2147483648"});
  says(good, {3, 3}, {3, 4}, {"sample 1", "label length of 4", "0 to 3"});
  says(good, {3, 3}, {-1, 3}, {"sample 0", "label length of -1"});
  says(good, {3, 2}, {3, 3}, {"sample 1", "3 entries", "2 steps", "takes 3"});
  says({1, 1, 2, 3, 2, 1}, {3, 3}, {3, 3}, {"sample 0", "1 of them like the one before", "takes 4"});
  const Tensor lengths = ints({1, 1}, {2}, kCpu);
  const auto refused = [&](const std::string& part, const std::function<void()>& call) {
    const std::string message = message_of(call);
    BOOST_TEST((message.find("ctc_loss: ") == 0 && message.find(part) != std::string::npos), message);
  };
  refused("[3, 4]", [&] { ctc_loss(Tensor::zeros({3, 4}), ints(good, {2, 3}, kCpu), lengths, lengths); });
  refused("[2, 0, 4]", [&] { ctc_loss(Tensor::zeros({2, 0, 4}), ints(good, {2, 3}, kCpu), lengths, lengths); });
  refused("int32 [N, L]", [&] { ctc_loss(logits, ints(good, {6}, kCpu), lengths, lengths); });
  refused("int32 [2, 3]", [&] { ctc_loss(logits, Tensor::zeros({2, 3}), lengths, lengths); });
  refused("input_lengths", [&] { ctc_loss(logits, ints(good, {2, 3}, kCpu), ints({1}, {1}, kCpu), lengths); });
  refused("label_lengths", [&] { ctc_loss(logits, ints(good, {2, 3}, kCpu), lengths, Tensor::zeros({2})); });
  refused("plain", [&] { ctc_loss(logits, ints(good, {2, 3}, kPlain), lengths, lengths); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
