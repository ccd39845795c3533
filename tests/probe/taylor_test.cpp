// On a quadratic all three gradients are known.

#include "dist/probe/taylor.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "dist/probe/quadratics.h"
#include "dist/simulate/simulator.h"
#include "optim/registry.h"

using namespace tg;

namespace {

constexpr double kCurvature = 3, kLambda = 0.25;

std::vector<TaylorPoint> probe(const char* spec, int64_t every) {
  const Quadratics task({kCurvature}, 0.7, 40);
  const std::unique_ptr<Rule> rule = make_rule(Spec::parse(spec, rule_infos(), "rule"));
  const auto codec = [](const Layout& layout) { return make_none_codec(layout); };
  const Job job{.task = &task,
                .rule = rule.get(),
                .codec_up = codec,
                .codec_down = codec,
                .schedule = Schedule({.peak = 0.02}),
                .workers = 3,
                .gradients = 40};
  TaylorProbe probe(job, every);
  simulate(job, {.clock = {.mean = 1, .variation = 0}, .link = {}, .pool_threads = 1}, probe);
  return probe.points();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(taylor)

// true - g = h d, d = theta - sent; c = lambda g^2 d.
BOOST_AUTO_TEST_CASE(the_distances_are_those_of_a_quadratic) {
  const std::vector<TaylorPoint> points = probe("dc-asgd-c:lambda=0.25", 1);
  BOOST_TEST(points.size() == 40);
  for (const TaylorPoint& point : points) {
    const TaylorSums& sums = point.tensors.at(0);
    if (point.lag == 0) {
      BOOST_TEST(sums.stale == 0);
      continue;
    }
    const double behind = std::sqrt(sums.stale) / kCurvature;  // theta has gone down: sent = theta + behind
    const double sent = std::sqrt(sums.gradient) / kCurvature + behind;
    const double part = kLambda * kCurvature * sent * sent;  // c / (true - g)
    BOOST_TEST(std::sqrt(sums.compensation / sums.stale) == part, boost::test_tools::tolerance(1e-3));
    BOOST_TEST(std::sqrt(sums.compensated / sums.stale) == std::abs(1 - part), boost::test_tools::tolerance(1e-3));
    BOOST_TEST(sums.best_factor() == 1 / part, boost::test_tools::tolerance(1e-3));
  }
}

BOOST_AUTO_TEST_CASE(every_tenth_update_is_measured) {
  const std::vector<TaylorPoint> points = probe("dc-asgd-a", 10);
  BOOST_TEST(points.size() == 4);
  BOOST_TEST(points.back().update == 30);
}

BOOST_AUTO_TEST_CASE(a_rule_without_compensation_is_refused) {
  BOOST_CHECK_EXCEPTION(probe("asgd", 1), Error, [](const Error& error) {
    return std::string(error.what()).find("no delay compensation") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
