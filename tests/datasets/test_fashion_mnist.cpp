// The real thing, where Debian's package dataset-fashion-mnist is installed.

#include <algorithm>
#include <filesystem>

#include "datasets/batches.h"
#include "datasets/registry.h"
#include "tests/datasets/files.h"

namespace {

constexpr const char* kFolder = "/usr/share/datasets/fashion-mnist";

boost::test_tools::assertion_result installed(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(std::filesystem::is_directory(kFolder));
  if (!result) result.message() << "dataset-fashion-mnist is not installed";
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fashion_mnist, *boost::unit_test::precondition(installed))

BOOST_AUTO_TEST_CASE(is_what_its_authors_say) {
  const tg::Splits splits = tg::load_dataset("fashion-mnist", kFolder);
  const tg::Dataset &train = splits.train, &test = splits.test;
  BOOST_TEST(train.size() == 60000);
  BOOST_TEST(test.size() == 10000);
  BOOST_TEST(train.class_names[9] == "Ankle boot");
  for (int32_t c = 0; c < 10; ++c) {
    BOOST_TEST(std::count(train.labels.begin(), train.labels.end(), c) == 6000);
    BOOST_TEST(std::count(test.labels.begin(), test.labels.end(), c) == 1000);
  }
  const std::vector<int32_t> first(train.labels.begin(), train.labels.begin() + 10);
  BOOST_TEST(first == (std::vector<int32_t>{9, 0, 0, 3, 0, 2, 7, 2, 5, 5}), boost::test_tools::per_element());
  BOOST_TEST(train.mean[0] == 0.2860F, boost::test_tools::tolerance(1e-3F));
  BOOST_TEST(train.deviation[0] == 0.3530F, boost::test_tools::tolerance(1e-3F));

  // The reference file holds the first pictures of the test set.
  const Bytes reference = read_file(odd_file("idx/ref-images-idx3-ubyte"));
  BOOST_TEST(std::equal(reference.begin() + 16, reference.end(), test.pixels.begin()));
}

BOOST_AUTO_TEST_CASE(one_epoch_shows_every_label_as_often) {
  const tg::Splits splits = tg::load_dataset("fashion-mnist", kFolder);
  const tg::Batches batches(splits.train, 128, 1);
  BOOST_TEST(batches.per_epoch() == 469);
  std::vector<int> count(10);
  for (int64_t b = 0; b < batches.per_epoch(); ++b) {
    const tg::Batch batch = batches.get(b);
    BOOST_TEST(batch.x.dim(0) == (b == 468 ? 96 : 128));
    for (const double label : batch.y.values()) ++count[static_cast<size_t>(label)];
  }
  for (const int n : count) BOOST_TEST(n == 6000);
}

BOOST_AUTO_TEST_SUITE_END()
