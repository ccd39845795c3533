// The learning rate at the borders of its pieces.
#include <boost/test/unit_test.hpp>
#include <limits>

#include "framework/core/error.h"
#include "optim/schedule.h"

namespace {

using tg::Schedule;

bool refused(const Schedule::Options& options, const std::string& part) {
  try {
    const Schedule schedule(options);
  } catch (const tg::Error& e) {
    return std::string(e.what()).find(part) != std::string::npos;
  }
  return false;
}

BOOST_AUTO_TEST_SUITE(schedule)

BOOST_AUTO_TEST_CASE(constant) {
  const Schedule s({.peak = 0.1});
  for (const int64_t accepted : {int64_t{0}, int64_t{1}, int64_t{1} << 60}) BOOST_TEST(s.rate(accepted) == 0.1f);
  BOOST_TEST(s.peak() == 0.1f);
}

BOOST_AUTO_TEST_CASE(drops) {
  const Schedule s({.peak = 1, .drops = {100, 150}, .factor = 0.25});
  BOOST_TEST(s.rate(0) == 1.0f);
  BOOST_TEST(s.rate(99) == 1.0f);
  BOOST_TEST(s.rate(100) == 0.25f);
  BOOST_TEST(s.rate(149) == 0.25f);
  BOOST_TEST(s.rate(150) == 0.0625f);
  BOOST_TEST(s.rate(1'000'000) == 0.0625f);
  BOOST_TEST(s.peak() == 1.0f);
}

BOOST_AUTO_TEST_CASE(warm_up) {
  const Schedule s({.peak = 0.8, .warmup = 4, .warmup_start = 0.4});
  BOOST_TEST(s.rate(0) == 0.4f);
  BOOST_TEST(s.rate(1) == 0.5f);
  BOOST_TEST(s.rate(2) == 0.6f);
  BOOST_TEST(s.rate(3) == 0.7f);
  BOOST_TEST(s.rate(4) == 0.8f);
  BOOST_TEST(s.rate(5) == 0.8f);
  BOOST_TEST(Schedule({.peak = 0.8, .warmup = 4}).rate(0) == 0.0f);
  BOOST_TEST(Schedule({.peak = 0.8, .warmup = 4, .warmup_start = 0.8}).rate(2) == 0.8f);
}

BOOST_AUTO_TEST_CASE(a_drop_during_the_warm_up) {
  const Schedule s({.peak = 1, .warmup = 4, .drops = {2}, .factor = 0.5});
  BOOST_TEST(s.rate(1) == 0.25f);
  BOOST_TEST(s.rate(2) == 0.25f);
  BOOST_TEST(s.rate(4) == 0.5f);
}

BOOST_AUTO_TEST_CASE(bad_options) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const double peak : {-0.1, nan, inf, 1e60}) BOOST_TEST(refused({.peak = peak}, "the learning rate is"));
  BOOST_TEST(refused({.warmup = -1}, "the warm-up lasts -1"));
  for (const double start : {-0.1, 0.2, nan, inf})
    BOOST_TEST(refused({.peak = 0.1, .warmup = 5, .warmup_start = start}, "the warm-up starts at"));
  for (const double factor : {0.0, -1.0, 1.5, nan}) BOOST_TEST(refused({.factor = factor}, "drops multiply the rate"));
  BOOST_TEST(refused({.drops = {5, 5}}, "a drop after 5 gradients follows 5"));
  BOOST_TEST(refused({.drops = {5, 4}}, "a drop after 4 gradients follows 5"));
  BOOST_TEST(refused({.drops = {0}}, "a drop after 0 gradients"));
  BOOST_TEST(!refused({.peak = 0, .drops = {1, 2}, .factor = 1}, ""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
