#include "framework/io/plot.h"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <sstream>

#include "tests/temporary_folder.h"

using namespace tg;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The picture as a tree; throws if it is not XML.
boost::property_tree::ptree parsed(const std::string& svg) {
  std::istringstream stream(svg);
  boost::property_tree::ptree tree;
  boost::property_tree::read_xml(stream, tree);
  return tree;
}

// While it lives, no program is found.
class EmptyPath {
 public:
  EmptyPath() : before_(std::getenv("PATH")) { ::setenv("PATH", "/nonexistent", 1); }
  ~EmptyPath() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(plots)

BOOST_AUTO_TEST_CASE(a_picture_is_whole_svg_with_its_words) {
  const TemporaryFolder folder;
  const Plot plot{"it's a 'title' & <more>",
                  "epoch",
                  "test_error, %",
                  {{"asgd_1 'x'", {0, 1, 2}, {3, kNan, 1}},
                   {"boxes", {0, 1}, {1, 2}, Series::Style::boxes},
                   {"nothing to see", {0, 1}, {kNan, kNan}},
                   {"points", {1}, {2}, Series::Style::lines_and_points}}};
  draw(plot, folder / "a.svg");
  const std::string svg = text_of(folder / "a.svg");
  BOOST_TEST(parsed(svg).count("svg") == 1u);
  BOOST_TEST(contains(svg, "it's a 'title' &amp; &lt;more"));
  BOOST_TEST(contains(svg, "test_error, %"));
  BOOST_TEST(contains(svg, "asgd_1 'x'"));
  BOOST_TEST(!contains(svg, "nothing to see"));
  draw({"second", "x", "y", {{"", {1, 2}, {2, 1}}}}, folder / "a.svg");
  BOOST_TEST(contains(text_of(folder / "a.svg"), "second"));
}

BOOST_AUTO_TEST_CASE(a_logarithmic_axis_has_powers_of_ten_and_no_zeros) {
  const TemporaryFolder folder;
  const Series zeros{"zeros", {0, 1}, {0, 0}};
  draw({"log", "", "", {zeros, {"decades", {0, 1, 2}, {1e-4, 0, 1e-2}}}, true}, folder / "a.svg");
  const std::string svg = text_of(folder / "a.svg");
  for (const char* word : {"decades", "0.0001", "0.001", "0.01"}) BOOST_TEST(contains(svg, word), word);
  BOOST_TEST(!contains(svg, "zeros"));
  BOOST_TEST(!contains(svg, "rgb( 68, 119, 170)"), "the colour of what is not drawn stays free");
  BOOST_TEST(contains(error_of([&] { draw({"t", "", "", {zeros}, true}, folder / "b.svg"); }), "no point"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_drawn_is_an_error_and_leaves_no_file) {
  const TemporaryFolder folder;
  BOOST_TEST(contains(error_of([&] { draw({"empty", "", "", {}}, folder / "a.svg"); }), "no point"));
  BOOST_TEST(contains(error_of([&] { draw({"t", "", "", {{"s", {1, 2}, {1}}}}, folder / "a.svg"); }), "2 x and 1 y"));
  BOOST_TEST(gnuplot_found());
  {
    const EmptyPath no_programs;
    BOOST_TEST(!gnuplot_found());
  }
  BOOST_TEST(std::filesystem::is_empty(folder.str()));
}

BOOST_AUTO_TEST_CASE(thinning_keeps_the_mean_and_short_series) {
  Series series{"s", std::vector<double>(1000), std::vector<double>(1000)};
  std::iota(series.x.begin(), series.x.end(), 0.0);
  std::iota(series.y.begin(), series.y.end(), 5.0);
  const Series thinned = thin(series, 100);
  BOOST_TEST(thinned.x.size() == 100u);
  BOOST_TEST(thinned.x.front() == 4.5);
  BOOST_TEST(thinned.y.back() == 999.5);
  BOOST_TEST(thin(series, 1000).x.size() == 1000u);
  BOOST_TEST(thin(series, 999).x.size() == 500u);
  BOOST_TEST(thin({}, 10).x.empty());
}

BOOST_AUTO_TEST_CASE(a_histogram_counts_in_percent) {
  const Series h = histogram("lag", {0, 3, 3, 3});
  const std::vector<double> x{0, 1, 2, 3}, y{25, 0, 0, 75};
  BOOST_TEST(h.x == x, boost::test_tools::per_element());
  BOOST_TEST(h.y == y, boost::test_tools::per_element());
  BOOST_TEST(histogram("lag", {}).x.empty());
  const Series wide = histogram("lag", {0, 1, 2, 200});
  BOOST_TEST(wide.x.size() <= 65u);
  BOOST_TEST(std::accumulate(wide.y.begin(), wide.y.end(), 0.0) == 100, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_SUITE_END()
