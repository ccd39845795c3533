#include <algorithm>

#include "datasets/registry.h"
#include "datasets/synthetic.h"
#include "tests/datasets/files.h"

BOOST_AUTO_TEST_SUITE(synthetic)

BOOST_AUTO_TEST_CASE(sizes_and_classes) {
  const tg::Splits splits = tg::load_dataset("synthetic", "");
  BOOST_TEST(splits.train.size() == 4096);
  BOOST_TEST(splits.test.size() == 1024);
  for (const tg::Dataset* data : {&splits.train, &splits.test}) {
    BOOST_TEST(data->sample_size() == 28 * 28);
    BOOST_TEST(data->classes() == 10);
    for (int32_t c = 0; c < 10; ++c)
      BOOST_TEST(std::abs(std::count(data->labels.begin(), data->labels.end(), c) - data->size() / 10) <= 1);
  }
}

BOOST_AUTO_TEST_CASE(a_function_of_the_seed) {
  const tg::Splits a = tg::synthetic_dataset(1), same = tg::synthetic_dataset(1), other = tg::synthetic_dataset(2);
  BOOST_TEST((a.train.pixels == same.train.pixels));
  BOOST_TEST((a.test.pixels == same.test.pixels));
  BOOST_TEST((a.train.pixels != other.train.pixels));
  const auto n = static_cast<int64_t>(a.test.pixels.size());
  BOOST_TEST(
      !std::equal(a.test.pixels.begin(), a.test.pixels.end(), a.train.pixels.begin(), a.train.pixels.begin() + n));
}

// The nearest class mean of the training set: what can be learnt from it holds for the test set, yet one picture alone
// is not enough.
BOOST_AUTO_TEST_CASE(can_be_learnt) {
  const tg::Splits splits = tg::synthetic_dataset(0);
  const auto error_percent = [&](int64_t used) {
    std::vector<double> mean(10 * 784), count(10);
    for (int64_t i = 0; i < used; ++i) {
      const auto label = static_cast<size_t>(splits.train.labels[static_cast<size_t>(i)]);
      ++count[label];
      for (size_t p = 0; p < 784; ++p) mean[label * 784 + p] += splits.train.pixels[static_cast<size_t>(i) * 784 + p];
    }
    int wrong = 0;
    for (size_t i = 0; i < 1024; ++i) {
      std::vector<double> distance(10);
      for (size_t c = 0; c < 10; ++c)
        for (size_t p = 0; p < 784; ++p) {
          const double d = splits.test.pixels[i * 784 + p] - mean[c * 784 + p] / count[c];
          distance[c] += d * d;
        }
      const auto best = std::min_element(distance.begin(), distance.end()) - distance.begin();
      wrong += best != splits.test.labels[i];
    }
    return wrong / 10.24;
  };
  BOOST_TEST(error_percent(4096) < 3);
  BOOST_TEST(error_percent(10) > 20);
}

BOOST_AUTO_TEST_SUITE_END()
