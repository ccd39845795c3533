#include <cmath>

#include "datasets/batches.h"
#include "datasets/dataset.h"
#include "datasets/synthetic.h"
#include "tests/datasets/files.h"

BOOST_AUTO_TEST_SUITE(dataset)

namespace {

tg::Dataset pictures(int64_t count, int64_t height, int64_t width, int64_t channels) {
  tg::Dataset data;
  data.name = "pictures";
  data.height = height;
  data.width = width;
  data.channels = channels;
  data.pixels = counting(static_cast<size_t>(count * height * width * channels));
  for (int64_t i = 0; i < count; ++i) data.labels.push_back(static_cast<int32_t>(i % 3));
  data.class_names = {"a", "b", "c"};
  return data;
}

}  // namespace

BOOST_AUTO_TEST_CASE(channels_are_measured_on_the_training_set) {
  tg::Splits splits{pictures(11, 9, 9, 3), pictures(5, 9, 9, 3)};
  tg::Dataset& train = splits.train;
  for (size_t i = 2; i < train.pixels.size(); i += 3) train.pixels[i] = 77;  // blue never varies
  tg::measure_channels(splits);
  for (size_t channel = 0; channel < 2; ++channel) {
    double sum = 0, square = 0;
    const double n = 11 * 9 * 9;
    for (size_t i = channel; i < train.pixels.size(); i += 3) sum += train.pixels[i] / 255.0;
    for (size_t i = channel; i < train.pixels.size(); i += 3) square += std::pow(train.pixels[i] / 255.0 - sum / n, 2);
    BOOST_TEST(train.mean[channel] == sum / n, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(train.deviation[channel] == std::sqrt(square / n), boost::test_tools::tolerance(1e-6));
  }
  BOOST_TEST(train.mean[2] == 77 / 255.0F);
  BOOST_TEST(train.deviation[2] == 1.0F);
  BOOST_TEST(splits.test.mean == train.mean);
  BOOST_TEST(splits.test.deviation == train.deviation);
}

// 9 x 9 x 3 values are no multiple of the runs in which they are converted.
BOOST_AUTO_TEST_CASE(a_batch_holds_the_normalised_samples) {
  for (const int64_t channels : {1, 3, 4}) {
    tg::Splits splits{pictures(11, 9, 9, channels), pictures(5, 9, 9, channels)};
    tg::measure_channels(splits);
    const tg::Dataset& test = splits.test;
    const std::vector<int64_t> index{4, 0, 3, 3};
    const tg::Batch batch = tg::gather(test, index);
    BOOST_TEST((batch.x.shape() == tg::Shape{4, 9, 9, channels}));
    BOOST_TEST((batch.y.shape() == tg::Shape{4}));
    BOOST_TEST(batch.index == index);
    const std::vector<double> x = batch.x.values(), y = batch.y.values();
    const auto sample = static_cast<size_t>(test.sample_size());
    double worst = 0;
    for (size_t k = 0; k < index.size(); ++k) {
      const auto from = static_cast<size_t>(index[k]);
      BOOST_TEST(y[k] == test.labels[from]);
      for (size_t i = 0; i < sample; ++i) {
        const double c = test.pixels[from * sample + i] / 255.0 - test.mean[i % static_cast<size_t>(channels)];
        worst = std::max(worst, std::abs(x[k * sample + i] - c / test.deviation[i % static_cast<size_t>(channels)]));
      }
    }
    BOOST_TEST(worst < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(the_training_set_has_mean_0_and_deviation_1) {
  const tg::Splits splits = tg::synthetic_dataset(3);
  const tg::InOrder batches(splits.train, 500);
  double sum = 0, square = 0, n = 0;
  for (int64_t b = 0; b < batches.count(); ++b) {
    const tg::Batch batch = batches.get(b);
    for (const double x : batch.x.values()) {
      sum += x;
      square += x * x;
    }
    n += static_cast<double>(batch.x.count());
  }
  BOOST_TEST(n == 4096.0 * 784);
  BOOST_TEST(std::abs(sum / n) < 1e-5);
  BOOST_TEST(std::abs(square / n - 1) < 1e-5);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_gathered) {
  tg::Splits splits{pictures(11, 9, 9, 1), pictures(5, 9, 9, 1)};
  const auto error_at = [&](int64_t i) { return error_of([&] { tg::gather(splits.test, {0, i}); }); };
  BOOST_TEST(contains(error_at(1), "pictures: its channels have not been measured"));
  tg::measure_channels(splits);
  BOOST_TEST(error_at(4) == "");
  BOOST_TEST(error_at(5) == "pictures: sample 5 asked of 5");
  BOOST_TEST(error_at(-1) == "pictures: sample -1 asked of 5");
  splits.test.pixels.pop_back();
  BOOST_TEST(error_at(1) == "pictures: 404 pixel values are not 5 pictures of 81");
}

BOOST_AUTO_TEST_SUITE_END()
