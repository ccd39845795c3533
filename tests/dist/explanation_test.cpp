#include "dist/history/explanation.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/core/error.h"

using namespace tg;

namespace {

struct Vectors {
  Layout layout;
  std::vector<float> values;

  // Gaps hold what must not count.
  Vectors() : layout(make_layout()), values(static_cast<size_t>(layout.size()), 100.0f) {}
  static Layout make_layout() {
    Layout layout;
    layout.add("fc.weight", {2, 3});
    layout.add("fc.bias", {2});
    return layout;
  }
  void set(const std::string& parameter, std::initializer_list<float> of) {
    std::copy(of.begin(), of.end(), values.begin() + layout.find(parameter).offset);
  }
  View view() const { return {values.data(), std::ssize(values)}; }
};

Vectors some() {
  Vectors v;
  v.set("fc.weight", {0, -4, 0.5f, 1, 0.5f, 2});
  v.set("fc.bias", {-2, 0.25f});
  return v;
}

std::vector<std::string> names(const ExplainedTerm& term) {
  std::vector<std::string> all;
  for (const Coordinate& coordinate : term.largest) all.push_back(name_of(coordinate));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(explanation)

BOOST_AUTO_TEST_CASE(norms_and_largest_coordinates_without_the_gaps) {
  const Vectors v = some();
  Explanation explanation(4);
  explanation.of_shard(v.layout)->term("g", v.view());
  BOOST_REQUIRE(explanation.terms().size() == 1u);
  const ExplainedTerm& term = explanation.terms().front();
  BOOST_TEST(term.name == "g");
  BOOST_TEST(term.norm() == std::sqrt(16 + 0.25 + 1 + 0.25 + 4 + 4 + 0.0625), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(
      names(term) == (std::vector<std::string>{"fc.weight[0,1]", "fc.weight[1,2]", "fc.bias[0]", "fc.weight[1,0]"}),
      boost::test_tools::per_element());
  BOOST_TEST(term.largest[0].value == -4);
  BOOST_TEST(term.largest[2].value == -2);
}

BOOST_AUTO_TEST_CASE(one_parameter_alone) {
  const Vectors v = some();
  Explanation explanation(5, "fc.bias");
  explanation.of_shard(v.layout)->term("g", v.view());
  const ExplainedTerm& term = explanation.terms().front();
  BOOST_TEST(term.norm() == std::sqrt(4.0625), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(names(term) == (std::vector<std::string>{"fc.bias[0]", "fc.bias[1]"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(shards_and_terms_come_together_by_name) {
  const Vectors v = some();
  Layout other;
  other.add("out.bias", {1});
  const std::vector<float> more(static_cast<size_t>(other.size()), 3.0f);
  Explanation explanation(2);
  const auto first = explanation.of_shard(v.layout), second = explanation.of_shard(other);
  first->term("g", v.view());
  first->term("step", v.view());
  second->term("g", View(more.data(), std::ssize(more)));
  second->term("step", View(more.data(), std::ssize(more)));
  BOOST_REQUIRE(explanation.terms().size() == 2u);
  for (const ExplainedTerm& term : explanation.terms()) {
    BOOST_TEST(term.norm() == std::sqrt(25.5625 + 9), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(names(term) == (std::vector<std::string>{"fc.weight[0,1]", "out.bias[0]"}),
               boost::test_tools::per_element());
  }
  BOOST_TEST(explanation.terms()[1].name == "step");
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_shown_first) {
  Vectors v = some();
  v.set("fc.bias", {1, NAN});
  Explanation explanation(1);
  explanation.of_shard(v.layout)->term("g", v.view());
  BOOST_TEST(names(explanation.terms().front()) == std::vector<std::string>{"fc.bias[1]"},
             boost::test_tools::per_element());
  BOOST_TEST(std::isnan(explanation.terms().front().norm()));
}

BOOST_AUTO_TEST_CASE(a_term_of_another_length_is_refused) {
  const Vectors v = some();
  Explanation explanation(1);
  BOOST_CHECK_THROW(explanation.of_shard(v.layout)->term("g", v.view().part(0, 16)), Error);
}

BOOST_AUTO_TEST_CASE(a_parameter_without_axes_needs_no_index) {
  BOOST_TEST(name_of(Coordinate{"scale", {}, 1}) == "scale");
}

BOOST_AUTO_TEST_SUITE_END()
