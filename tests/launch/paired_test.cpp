// `tardygrad compare --paired`.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "dist/history/event_log.h"
#include "dist/launch/interval.h"
#include "framework/core/random.h"
#include "tests/launch/program.h"

namespace fs = std::filesystem;
using namespace tg;

namespace {

const std::string kThreads = "train --engine threads --rule asgd --workers 3 --shards 2 --lr 0.005" + kQuick;

// The numbers of paired.csv for a rule and a measure.
std::map<std::string, std::string> numbers(const fs::path& file, const std::string& rule, const std::string& measure) {
  for (const auto& row : read_csv(file))
    if (row.at("rule") == rule && row.at("measure") == measure) return row;
  BOOST_FAIL("no row for " + rule + ", " + measure);
  return {};
}

double number(const std::map<std::string, std::string>& row, const char* column) { return std::stod(row.at(column)); }

// What one replay by itself comes to.
std::map<std::string, std::string> replayed(const TemporaryFolder& folder, const std::string& run,
                                            const std::string& rule) {
  BOOST_REQUIRE(run_in(folder, "replay " + run + " --rule " + rule + " --out alone").status == 0);
  const auto row = read_csv(folder / "alone/summary.csv").front();
  fs::remove_all(folder / "alone");
  return row;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(paired)

BOOST_AUTO_TEST_CASE(student_s_t_is_that_of_the_tables) {
  const std::pair<int, double> table[] = {{1, 12.706}, {2, 4.303}, {3, 3.182}, {4, 2.776}, {9, 2.262}, {30, 2.042}};
  for (const auto& [degrees, t] : table) BOOST_TEST(std::abs(student_t(degrees) - t) < 6e-4, degrees);
  BOOST_TEST(std::abs(student_t(1000) - 1.962) < 6e-4);
  const Interval three = interval_of({1, 2, 6});
  BOOST_TEST(three.mean == 3.0);
  BOOST_TEST(three.half == 4.3027 * std::sqrt(7.0 / 3), boost::test_tools::tolerance(1e-4));
  BOOST_TEST(interval_of({5}).mean == 5.0);
  BOOST_TEST(std::isnan(interval_of({5}).half));
  BOOST_TEST(std::isnan(interval_of_series(std::vector<double>(79)).half));
  BOOST_TEST(interval_of_series(std::vector<double>(80, 2.0)).half == 0.0);
}

// Of 300 series in which each value keeps 0.8 of the one before, intervals of blocks have the mean, 0, in nearly 95 of
// 100; those that take neighbours for independent, in half of them.
BOOST_AUTO_TEST_CASE(an_interval_of_a_series_knows_that_neighbours_resemble_each_other) {
  constexpr int kSeries = 300;
  int of_blocks = 0, of_all = 0;
  for (int s = 0; s < kSeries; ++s) {
    Generator random(Stream(1).split("series", static_cast<uint64_t>(s)));
    std::vector<double> values;
    double value = 0;
    for (int i = 0; i < 1000; ++i) values.push_back(value = 0.8 * value + random.normal());
    const Interval blocks = interval_of_series(values), all = interval_of(values);
    of_blocks += std::abs(blocks.mean) <= blocks.half;
    of_all += std::abs(all.mean) <= all.half;
  }
  BOOST_TEST(of_blocks > 0.90 * kSeries);
  BOOST_TEST(of_all < 0.65 * kSeries);
}

BOOST_AUTO_TEST_CASE(differences_are_those_of_replays_over_recordings) {
  const TemporaryFolder folder;
  std::vector<double> errors, losses;
  for (const std::string seed : {"1", "2", "3"}) {
    BOOST_REQUIRE(run_in(folder, kThreads + "--epochs 1 --seed " + seed + " --out r" + seed).status == 0);
    const auto recorded = read_csv(folder / ("r" + seed + "/summary.csv")).front();
    const auto other = replayed(folder, "r" + seed, "dana-zero:momentum=0.8");
    errors.push_back(number(other, "test_error_percent") - number(recorded, "test_error_percent"));
    losses.push_back(number(other, "train_loss") - number(recorded, "train_loss"));
  }
  const Outcome outcome =
      run_in(folder, "compare --paired r1 r2 r3 --rules asgd,dc-asgd-a:lambda=0,m=0,dana-zero:momentum=0.8 --out p");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  BOOST_TEST(contains(outcome.out, "3 rules on the arrivals of 3 runs of asgd with 3 workers"), outcome.out);
  BOOST_TEST(contains(outcome.out, "\nasgd, recorded "), outcome.out);
  BOOST_TEST(contains(outcome.out, "Student's t over 3 recordings"), outcome.out);
  BOOST_TEST(read_csv(folder / "p/summary.csv").size() == 9u);
  for (const auto& [measure, expected] : {std::pair("test_error_percent", errors), {"train_loss", losses}}) {
    const auto row = numbers(folder / "p/paired.csv", "dana-zero:momentum=0.8", measure);
    const Interval interval = interval_of(expected);
    BOOST_TEST(row.at("recordings") == "3");
    BOOST_TEST(number(row, "difference") == interval.mean, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(number(row, "low") == interval.mean - interval.half, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(number(row, "high") == interval.mean + interval.half, boost::test_tools::tolerance(1e-9));
    // An identity: without its compensation dc-asgd is asgd.
    const auto same = numbers(folder / "p/paired.csv", "dc-asgd-a:lambda=0,m=0", measure);
    BOOST_TEST(number(same, "difference") == 0.0);
    BOOST_TEST(number(same, "high") == 0.0);
  }
  BOOST_TEST(fs::exists(folder / "p/error.svg"));
  BOOST_TEST(run_in(folder, "replay p/003-dana-zero-3w-seed1").status == 0);
}

BOOST_AUTO_TEST_CASE(one_recording_is_paired_by_batch) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kThreads + "--epochs 4 --evaluate-every 3 --seed 5 --out r").status == 0);
  const Outcome outcome = run_in(folder, "compare --paired r --rules dana-zero --out p");
  BOOST_TEST(outcome.status == 0);
  const auto loss = numbers(folder / "p/paired.csv", "dana-zero", "train_loss");
  const auto rows = read_csv(folder / "p/summary.csv");
  BOOST_REQUIRE_EQUAL(rows.size(), 2u);
  BOOST_TEST(number(loss, "difference") == number(rows[1], "train_loss") - number(rows[0], "train_loss"),
             boost::test_tools::tolerance(1e-6));
  const auto error = numbers(folder / "p/paired.csv", "dana-zero", "test_error_percent");
  BOOST_TEST(number(error, "difference") ==
             number(rows[1], "test_error_percent") - number(rows[0], "test_error_percent"));
  BOOST_TEST(error.at("low") == "nan");
  // The run's last quarter is too short for blocks.
  BOOST_TEST(loss.at("low") == "nan");
  BOOST_TEST(contains(outcome.out, "too few"), outcome.out);

  BOOST_REQUIRE(run_in(folder, kThreads + "--epochs 4 --evaluate-every 4 --seed 5 --out long").status == 0);
  const Outcome more = run_in(folder, "compare --paired long --rules dana-zero --out q");
  BOOST_TEST(contains(more.out, "of the mean loss on the last 128 batches, Student's t over 10 blocks"), more.out);
  const auto interval = numbers(folder / "q/paired.csv", "dana-zero", "train_loss");
  BOOST_TEST(number(interval, "low") < number(interval, "difference"));
  BOOST_TEST(number(interval, "difference") < number(interval, "high"));
}

BOOST_AUTO_TEST_CASE(a_rule_that_diverges_has_no_difference) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --rule asgd --workers 4 --lr 0.5 --epochs 2 --out r" + kQuick).status == 0);
  const Outcome outcome = run_in(folder, "compare --paired r --rules dc-asgd-c:lambda=1000 --out p");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "[2/2] diverged at update "), outcome.out);
  BOOST_TEST(numbers(folder / "p/paired.csv", "dc-asgd-c:lambda=1000", "train_loss").at("difference") == "nan");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_paired_is_refused_before_the_first_replay) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kThreads + "--epochs 0.5 --out r").status == 0);
  BOOST_REQUIRE(run_in(folder, kThreads + "--epochs 0.5 --batch 64 --out other").status == 0);
  BOOST_REQUIRE(
      run_in(folder, "train --engine threads --hogwild --workers 2 --epochs 0.5 --out wild" + kQuick).status == 0);
  // As a run that was killed leaves it.
  fs::copy(folder / "r", folder / "cut");
  fs::resize_file(folder / "cut/events-1.bin", fs::file_size(folder / "cut/events-1.bin") - 1);
  const std::pair<std::string, std::string> mistakes[] = {
      {"--paired r", "which rules? --rules RULE"},
      {"--rules asgd", "--rules goes with --paired"},
      {"--paired nothing --rules dana-zero", "nothing/config.json: No such file"},
      {"--paired wild --rules dana-zero", "wild: a hogwild run has no order of events"},
      {"--paired cut --rules dana-zero", "--paired cut: this run did not come to its end"},
      {"--paired r other --rules dana-zero", "--paired other: its batch is '64', that of r is '128'"},
      {"--paired r ./r --rules dana-zero", "--paired ./r: this run is given twice"},
      {"--paired r --rules dana-zeroo", "did you mean dana-zero?"},
      {"--paired r --rules asgd,,dana-zero", "rule: there is no ''"},
      {"--paired r --rules asgd", "--rules names no rule but the recorded one"},
      {"--paired r --rules sgd", "it is sequential"},
      {"--paired r --rules ssgd", "the messages of r came in no rounds"},
      {"--paired r --rules dana-zero --lr 0.1", "leave out --lr"},
      {"--paired r --rules dana-zero --rule asgd", "leave out --rule"},
  };
  for (const auto& [arguments, message] : mistakes) {
    const Outcome outcome = run_in(folder, "compare --out p " + arguments);
    BOOST_TEST(outcome.status == 1, arguments);
    BOOST_TEST(contains(outcome.err, message), arguments << ": " << outcome.err);
    BOOST_TEST(!fs::exists(folder / "p"), arguments);
  }
}

BOOST_AUTO_TEST_SUITE_END()
