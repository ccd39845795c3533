#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "dist/launch/plan.h"
#include "dist/launch/table.h"
#include "tests/launch/program.h"

namespace fs = std::filesystem;

namespace {

int64_t folders_in(const fs::path& path) {
  return std::count_if(fs::directory_iterator(path), fs::directory_iterator(),
                       [](const fs::directory_entry& entry) { return entry.is_directory(); });
}

// The line of the printed table that begins with `start`.
std::string table_line(const std::string& out, const std::string& start) {
  const std::size_t begin = out.find("\n" + start + " ", out.find("test error %  "));
  BOOST_REQUIRE(begin != std::string::npos);
  return out.substr(begin + 1, out.find('\n', begin + 1) - begin - 1);
}

// Values by the place of their option in run_option_list().
std::vector<std::vector<std::string>> values_of(const std::map<std::string, std::vector<std::string>>& by_flag) {
  std::vector<std::vector<std::string>> values;
  for (const tg::RunOption& option : tg::run_option_list()) {
    const auto found = by_flag.find(option.flag);
    values.push_back(found == by_flag.end() ? std::vector<std::string>{} : found->second);
  }
  return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare)

BOOST_AUTO_TEST_CASE(the_product_of_all_lists_is_run) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(
      folder, "compare --rule asgd dc-asgd-a:lambda=1,m=0 --workers 1 3 --seed 1 2 --epochs 0.5 --out c" + kQuick);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  const auto rows = read_csv(folder / "c/summary.csv");
  BOOST_TEST(rows.size() == 8u);
  std::set<std::string> runs;
  for (const auto& row : rows) runs.insert(row.at("rule") + " " + row.at("workers") + " " + row.at("seed"));
  BOOST_TEST(runs.size() == 8u);
  BOOST_TEST(runs.count("dc-asgd-a:lambda=1,m=0 3 2") == 1u);
  BOOST_TEST(folders_in(folder / "c") == 8);
  for (const auto& entry : fs::directory_iterator(folder / "c")) {
    if (entry.is_directory()) BOOST_TEST(fs::exists(entry.path() / "events.bin"));
  }
  BOOST_TEST(contains(text_of(folder / "c/error.svg"), "dc-asgd-a:lambda=1,m=0, workers 3"));
  BOOST_TEST(fs::exists(folder / "c/loss.svg"));
  BOOST_TEST(contains(text_of(folder / "c/gap.svg"), "dc-asgd-a:lambda=1,m=0, workers 3"));
  BOOST_TEST(fs::exists(folder / "c/gap.svg"));
}

BOOST_AUTO_TEST_CASE(the_table_has_mean_and_deviation_over_seeds) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "compare --seed 1 2 3 --epochs 1 --out c" + kQuick);
  std::vector<double> errors;
  double sum = 0, squares = 0;
  for (const auto& row : read_csv(folder / "c/summary.csv")) errors.push_back(std::stod(row.at("test_error_percent")));
  BOOST_REQUIRE_EQUAL(errors.size(), 3u);
  for (const double error : errors) sum += error;
  for (const double error : errors) squares += (error - sum / 3) * (error - sum / 3);
  char expected[64];
  std::snprintf(expected, sizeof expected, "  3  %.2f +- %.2f  ", sum / 3, std::sqrt(squares / 2));
  BOOST_TEST(contains(table_line(outcome.out, "asgd"), expected));
}

BOOST_AUTO_TEST_CASE(a_run_that_diverges_does_not_end_the_others) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "compare --lr 1e6 0.05 --epochs 0.5 --out c" + kQuick);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "diverged at update "));
  const auto rows = read_csv(folder / "c/summary.csv");
  BOOST_REQUIRE_EQUAL(rows.size(), 2u);
  BOOST_TEST(rows[0].at("status") == "diverged");
  BOOST_TEST(rows[1].at("status") == "finished");
  BOOST_TEST(contains(table_line(outcome.out, "asgd        1        1000000"), "diverged"));
  BOOST_TEST(contains(table_line(outcome.out, "asgd        1           0.05"), "finished"));
}

BOOST_AUTO_TEST_CASE(runs_that_come_to_the_same_are_run_once) {
  const auto plans = tg::make_plans(values_of({{"--rule", {"sgd", "asgd"}},
                                               {"--workers", {"1", "4"}},
                                               {"--momentum", {"0.5", "0.9"}},
                                               {"--seed", {"1", "2"}}}));
  std::vector<std::string> runs;
  for (const tg::Plan& plan : plans)
    runs.push_back(plan.options.rule + " " + std::to_string(plan.options.workers) + " " +
                   std::to_string(*plan.options.momentum).substr(0, 3) + " " + std::to_string(plan.options.seed));
  const std::vector<std::string> expected{"sgd 1 0.5 1",  "sgd 1 0.5 2",  "sgd 1 0.9 1",  "sgd 1 0.9 2",
                                          "asgd 1 0.0 1", "asgd 1 0.0 2", "asgd 4 0.0 1", "asgd 4 0.0 2"};
  BOOST_TEST(runs == expected, boost::test_tools::per_element());
  BOOST_TEST(plans[0].notes.at(0) == "sgd is sequential: it runs with 1 worker, not 4");
  BOOST_TEST(plans[4].notes.at(0) == "asgd has no momentum: --momentum 0.5 is for the others");
}

BOOST_AUTO_TEST_CASE(everything_is_checked_before_the_first_run) {
  const TemporaryFolder folder;
  for (const std::string arguments :
       {"--rule asgd dana-zeroo", "--batch 128 100000", "--lr 0.1 -1", "--model mlp lenett", "--drop-at 1 1,1.0001"}) {
    BOOST_TEST_CONTEXT(arguments) {
      const Outcome outcome = run_in(folder, "compare --data synthetic --out c " + arguments);
      BOOST_TEST(outcome.status == 1);
      BOOST_TEST(outcome.out == "");
      BOOST_TEST(!fs::exists(folder / "c"));
    }
  }
  BOOST_TEST(contains(error_of([] {
                        std::vector<std::string> seeds(101);
                        for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = std::to_string(i);
                        tg::make_plans(values_of({{"--seed", seeds}, {"--workers", seeds}}));
                      }),
                      "more than 10000 runs"));
}

BOOST_AUTO_TEST_CASE(text_for_people) {
  BOOST_TEST(tg::table({"rule", "n"}, {{"a", "10"}, {"longer", "1"}}, 1) == "rule     n\na       10\nlonger   1\n");
  BOOST_TEST(tg::mean_and_deviation({1, 3}, 1) == "2.0 +- 1.4");
  BOOST_TEST(tg::mean_and_deviation({2, std::nan("")}, 1) == "2.0");
  BOOST_TEST(tg::mean_and_deviation({std::nan("")}, 1) == "-");
  BOOST_TEST(tg::duration_text(59.4) == "59 s");
  BOOST_TEST(tg::duration_text(187) == "3:07");
  BOOST_TEST(tg::duration_text(3787) == "1:03:07");
}

BOOST_AUTO_TEST_SUITE_END()
