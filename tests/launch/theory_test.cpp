// `tardygrad stability` and `tardygrad probe`, as a user runs them.

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/launch/program.h"

namespace fs = std::filesystem;

namespace {

double number(const std::string& text) { return std::stod(text); }

}  // namespace

BOOST_AUTO_TEST_SUITE(theory)

BOOST_AUTO_TEST_CASE(stability_says_which_rates_are_stable) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "stability --rule asgd dana-zero --workers 1 4 --out s");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  for (const char* file : {"config.json", "stability.csv", "asgd.svg", "dana-zero.svg"})
    BOOST_TEST(fs::exists(folder / "s" / file), file);
  const auto rows = read_csv(folder / "s/stability.csv");
  BOOST_TEST(rows.size() == 2 * 2 * 64);
  for (const auto& row : rows) {
    if (row.at("rule") != "asgd" || row.at("workers") != "1") continue;
    const double rate = number(row.at("rate")), growth = std::abs(1 - rate);
    if (growth > 0.5) BOOST_TEST(number(row.at("growth")) == growth, boost::test_tools::tolerance(0.05));
  }
}

BOOST_AUTO_TEST_CASE(stability_refuses_what_makes_no_sense) {
  const TemporaryFolder folder;
  for (const char* words :
       {"", "--rule asgdd", "--rule asgd --workers 0", "--rule asgd --train 0", "--rule asgd --workers 1000"}) {
    const Outcome outcome = run_in(folder, std::string("stability --out s ") + words);
    BOOST_TEST(outcome.status == 1);
    BOOST_TEST(!outcome.err.empty());
    BOOST_TEST(!fs::exists(folder / "s"));
  }
}

BOOST_AUTO_TEST_CASE(probe_taylor_measures_along_a_run) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(
      folder, "probe taylor --rule dc-asgd-c:lambda=1 --workers 4 --epochs 1 --lr 0.02 --every 5 --out t" + kQuick);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  BOOST_TEST(outcome.out.find("compensated/stale") != std::string::npos);
  BOOST_TEST(fs::exists(folder / "t/taylor.svg"));
  const auto rows = read_csv(folder / "t/taylor.csv");
  BOOST_REQUIRE(!rows.empty());
  for (const auto& row : rows) {
    BOOST_TEST(std::stoll(row.at("update")) % 5 == 0);
    // The triangle of true gradient, stale and compensated.
    BOOST_TEST(number(row.at("compensated")) <= number(row.at("stale")) + number(row.at("compensation")) + 1e-6);
    if (row.at("lag") == "0") BOOST_TEST(number(row.at("stale")) == 0);
  }
}

BOOST_AUTO_TEST_CASE(probe_taylor_refuses_a_rule_without_compensation) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "probe taylor --rule asgd --workers 2 --out t" + kQuick);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(outcome.err.find("no delay compensation") != std::string::npos);
}

// g (.) g of a batch of b is about 1 / b of that of single samples, so the best lambda grows with b.
BOOST_AUTO_TEST_CASE(probe_hessian_wants_a_larger_lambda_for_larger_batches) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder,
                                 "probe hessian --data synthetic --model mlp:hidden=4 --epochs 1 --samples 64 "
                                 "--coordinates 40 --batches 1 16 --out h");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  double hessian_times[2] = {0, 0}, squares[2] = {0, 0};
  const auto rows = read_csv(folder / "h/hessian.csv");
  BOOST_TEST(rows.size() == 40);
  for (const auto& row : rows) {
    const double g[2] = {number(row.at("g2_batch_1")), number(row.at("g2_batch_16"))};
    for (int k = 0; k < 2; ++k) {
      BOOST_TEST(g[k] >= 0);
      hessian_times[k] += number(row.at("hessian")) * g[k];
      squares[k] += g[k] * g[k];
    }
  }
  BOOST_TEST(hessian_times[0] > 0);
  BOOST_TEST(hessian_times[1] / squares[1] > 2 * hessian_times[0] / squares[0]);
}

BOOST_AUTO_TEST_SUITE_END()
