#include "dist/history/history.h"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <set>

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

BOOST_AUTO_TEST_CASE(gaps_that_were_not_measured_do_not_count) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  History history;
  history.updates = {{.gap = none}, {.gap = 2}, {.gap = none}, {.gap = 4}};
  BOOST_TEST(summarise(history).mean_gap == 3);
  history.updates = {{.gap = none}};
  BOOST_TEST(fmt::format("{}", summarise(history).mean_gap) == "nan");
}

BOOST_AUTO_TEST_CASE(statuses_have_names) {
  BOOST_TEST(name_of(History::Status::finished) == std::string("finished"));
  BOOST_TEST(name_of(History::Status::stopped) == std::string("stopped"));
  BOOST_TEST(name_of(History::Status::diverged) == std::string("diverged"));
}

BOOST_AUTO_TEST_CASE(root_mean_square_is_over_so_many_parameters) {
  BOOST_TEST(root_mean_square(25, 4) == 2.5);
  BOOST_TEST(root_mean_square(25, 1) == 5);
  BOOST_TEST(root_mean_square(0, 4) == 0);
  BOOST_CHECK_THROW(root_mean_square(1, 0), Error);
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

BOOST_AUTO_TEST_CASE(a_hash_differs_where_a_bit_does) {
  std::vector<float> values(1003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.01f * static_cast<float>(i);
  const auto hash = [&] { return hash_of({values.data(), std::ssize(values)}); };
  std::set<uint64_t> seen = {hash()};
  size_t changes = 0;
  for (size_t i = 0; i < values.size(); i += i < 40 ? 1 : 97)
    for (uint32_t bit = 0; bit < 32; ++bit) {
      const float before = values[i];
      values[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(before) ^ uint32_t{1} << bit);
      seen.insert(hash());
      values[i] = before;
      ++changes;
    }
  BOOST_TEST(seen.size() == changes + 1);

  // Two signs, sixteen apart: they meet in the same lane.
  values[3] = -values[3];
  values[19] = -values[19];
  BOOST_TEST(seen.count(hash()) == 0u);
  BOOST_TEST(hash_of({values.data(), 1002}) != hash_of({values.data(), 1003}));
  std::vector<float> zeros(20);
  BOOST_TEST(hash_of({zeros.data(), 19}) != hash_of({zeros.data(), 20}));
  BOOST_TEST(hash_of({zeros.data(), 20}) == 14117705723685851439u);  // the same on every machine and in every build
}

BOOST_AUTO_TEST_SUITE_END()
