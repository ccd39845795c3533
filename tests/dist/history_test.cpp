#include "dist/history/history.h"

#include <boost/test/unit_test.hpp>
#include <limits>

#include "dist/history/measure.h"
#include "framework/core/error.h"

using namespace tg;

BOOST_AUTO_TEST_SUITE(history)

BOOST_AUTO_TEST_CASE(summaries_are_means_maxima_and_sums) {
  History history;
  history.updates = {{.lag = 1, .gap = 0.5, .bytes_up = 10, .bytes_down = 100},
                     {.lag = 6, .gap = 0.25, .bytes_up = 20, .bytes_down = 300}};
  const Summary summary = summarise(history);
  BOOST_TEST(summary.mean_lag == 3.5);
  BOOST_TEST(summary.max_lag == 6);
  BOOST_TEST(summary.mean_gap == 0.375);
  BOOST_TEST(summary.bytes_up == 30);
  BOOST_TEST(summary.bytes_down == 400);
}

BOOST_AUTO_TEST_CASE(a_run_without_updates_has_a_summary_of_zeros) {
  const Summary summary = summarise({});
  BOOST_TEST(summary.mean_lag == 0);
  BOOST_TEST(summary.mean_gap == 0);
}

BOOST_AUTO_TEST_CASE(statuses_have_names) {
  BOOST_TEST(name_of(History::Status::finished) == std::string("finished"));
  BOOST_TEST(name_of(History::Status::stopped) == std::string("stopped"));
  BOOST_TEST(name_of(History::Status::diverged) == std::string("diverged"));
}

BOOST_AUTO_TEST_CASE(root_mean_square_counts_parameters_not_gaps) {
  const std::vector<float> a = {3, 0, -1, 0}, b = {0, 4, -1, 0};
  const View va(a.data(), 4), vb(b.data(), 4);
  BOOST_TEST(rms_difference(va, vb, 4) == 2.5);
  BOOST_TEST(rms_difference(va, vb, 1) == 5);
  BOOST_TEST(rms_difference(va, va, 4) == 0);
  BOOST_CHECK_THROW(rms_difference(va, View(b.data(), 3), 3), Error);
  BOOST_CHECK_THROW(rms_difference(va, vb, 0), Error);
}

BOOST_AUTO_TEST_CASE(one_value_that_is_not_finite_is_seen) {
  std::vector<float> values(10'000, 1e38f);
  const View view(values.data(), 10'000);
  BOOST_TEST(all_finite(view));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    values[7777] = bad;
    BOOST_TEST(!all_finite(view));
  }
}

BOOST_AUTO_TEST_SUITE_END()
