#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/launch/program.h"

namespace fs = std::filesystem;

namespace {

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

// What the page's script steps through.
nlohmann::json data_of(const fs::path& page) {
  const std::string text = text_of(page), start = "const data = ";
  const size_t begin = text.find(start) + start.size();
  return nlohmann::json::parse(text.substr(begin, text.find(";\n", begin) - begin));
}

// The numbers of the updates on a page.
std::vector<int> updates_on(const fs::path& page) {
  std::vector<int> numbers;
  const nlohmann::json data = data_of(page);
  for (const auto& task : data["tasks"])
    if (task["taken"]) numbers.push_back(task["update"]);
  return numbers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(trace_of_a_run)

BOOST_AUTO_TEST_CASE(a_page_and_a_picture_in_the_run_s_folder) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --rule dana-zero --workers 4 --epochs 1 --out r" + kQuick).status == 0);
  std::set<std::string> files = files_in(folder / "r");
  const Outcome outcome = run_in(folder, "trace r");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  BOOST_TEST(outcome.out == "updates 0 to 31, step by step: r/trace.html\nas a picture: r/trace.svg\n");
  files.insert({"trace.html", "trace.svg"});
  BOOST_TEST(files_in(folder / "r") == files, boost::test_tools::per_element());
  BOOST_TEST(contains(text_of(folder / "r/trace.svg"), "</svg>"));
  const auto data = data_of(folder / "r/trace.html");
  BOOST_TEST(data["title"] == "dana-zero with 4 workers on mlp:hidden=16");
  BOOST_TEST(data["unit"] == "time units");
  BOOST_TEST(data["workers"] == 4);
  BOOST_TEST(updates_on(folder / "r/trace.html").size() == 32u);
  double lags = 0, gaps = 0;
  for (const auto& task : data["tasks"]) {
    lags += task["lag"].get<double>();
    gaps += task["gap"].get<double>();
  }
  const auto summary = read_csv(folder / "r/summary.csv").front();
  BOOST_TEST(lags / 32 == std::stod(summary.at("mean_lag")), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(gaps / 32 == std::stod(summary.at("mean_gap")), boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_part_of_the_updates) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --rule ssgd:backup=1 --workers 4 --epochs 1 --out r" + kQuick).status == 0);
  BOOST_TEST(run_in(folder, "trace r --updates 10..12").status == 0);
  BOOST_TEST(updates_on(folder / "r/trace.html") == (std::vector<int>{10, 11, 12}), boost::test_tools::per_element());
  const std::string picture = text_of(folder / "r/trace.svg");
  const Outcome again = run_in(folder, "trace r --updates 30..1000");
  BOOST_TEST(again.out == "updates 30 to 31, step by step: r/trace.html\nas a picture: r/trace.svg\n");
  BOOST_TEST(updates_on(folder / "r/trace.html") == (std::vector<int>{30, 31}), boost::test_tools::per_element());
  BOOST_TEST(text_of(folder / "r/trace.svg") != picture);
}

BOOST_AUTO_TEST_CASE(without_gnuplot_there_is_a_page_and_a_reason) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --epochs 0.5 --out r" + kQuick).status == 0);
  const Outcome outcome = run_in(folder, "trace r", "PATH=/nonexistent");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "gnuplot"));
  BOOST_TEST(!fs::exists(folder / "r/trace.svg"));
  BOOST_TEST(updates_on(folder / "r/trace.html").size() == 16u);
}

BOOST_AUTO_TEST_CASE(mistakes_in_a_range) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --epochs 0.5 --out r" + kQuick).status == 0);
  for (const std::string range : {"5", "5..", "..5", "5..3", "-1..3", "1...3", "0.5..3", "1..x", "''"})
    BOOST_TEST(contains(run_in(folder, "trace r --updates " + range).err, "--updates: expected two whole numbers"),
               range);
  BOOST_TEST(contains(run_in(folder, "trace r --updates 0..9223372036854775807").err, "more than 20000"));
  BOOST_TEST(contains(run_in(folder, "trace r --updates 16..20").err, "--updates 16..20: the run has 16 updates"));
  BOOST_TEST(contains(run_in(folder, "trace").err, "which run?"));
  BOOST_TEST(contains(run_in(folder, "trace r r").err, "belongs to no option"));
  BOOST_TEST(contains(run_in(folder, "trace nowhere").err, "nowhere/config.json"));
  BOOST_TEST(!fs::exists(folder / "r/trace.html"));
}

BOOST_AUTO_TEST_SUITE_END()
