// The grammar of names: what is accepted, and what each mistake is answered with.
#include <boost/test/unit_test.hpp>

#include "framework/core/error.h"
#include "framework/core/spec.h"

namespace {

using tg::Error;
using tg::Spec;

const std::vector<tg::SpecInfo> kRules = {
    {"sgd", "one worker", {{"momentum", "0", "in [0, 1)"}, {"nesterov", "false", "look ahead"}}},
    {"asgd", "late gradients", {}},
    {"dc-asgd-a",
     "compensated",
     {{"lambda", "2", "strength"}, {"mean-square", "server", "server or worker"}, {"steps", "5", "a count"}}},
    {"dana-zero", "looks ahead", {{"momentum", "0.9", "in [0, 1)"}}},
};

Spec parse(const std::string& text) { return Spec::parse(text, kRules, "rule"); }

// The message that `f` throws; fails if it throws none.
template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  BOOST_ERROR("no Error was thrown");
  return "";
}
std::string refusal(const std::string& text) {
  return message([&] { parse(text); });
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

BOOST_AUTO_TEST_SUITE(spec)

BOOST_AUTO_TEST_CASE(defaults_are_filled_in) {
  const Spec s = parse("dc-asgd-a");
  BOOST_TEST(s.name() == "dc-asgd-a");
  BOOST_TEST(s.number("lambda", 0, 10) == 2.0);
  BOOST_TEST(s.integer("steps", 0, 10) == 5);
  BOOST_TEST(s.choice("mean-square", {"server", "worker"}) == "server");
  BOOST_TEST(!s.given("lambda"));
  BOOST_TEST(s.has("lambda"));
  BOOST_TEST(!s.has("momentum"));
  BOOST_TEST(!parse("sgd").flag("nesterov"));
}

BOOST_AUTO_TEST_CASE(options_are_read) {
  const Spec s = parse("dc-asgd-a:mean-square=worker,lambda=4e-2");
  BOOST_TEST(s.number("lambda", 0, 10) == 0.04);
  BOOST_TEST(s.text("mean-square") == "worker");
  BOOST_TEST(s.given("lambda"));
  BOOST_TEST(!s.given("steps"));
  BOOST_TEST(parse("sgd:nesterov=true").flag("nesterov"));
  BOOST_TEST(parse("sgd:momentum=0").given("momentum"));  // typed, though it is the default
}

BOOST_AUTO_TEST_CASE(a_value_may_be_set_from_outside) {
  Spec s = parse("sgd");
  s.set("momentum", "0.5");
  BOOST_TEST(s.number("momentum", 0, 1) == 0.5);
  BOOST_TEST(s.given("momentum"));
  BOOST_TEST(contains(message([&] { s.set("momentun", "1"); }), "did you mean momentum?"));
  Spec none = parse("asgd");
  BOOST_TEST(contains(message([&] { none.set("momentum", "0.5"); }), "rule 'asgd': it has no option 'momentum'"));
}

BOOST_AUTO_TEST_CASE(canonical_text) {
  BOOST_TEST(parse("sgd").str() == "sgd");
  BOOST_TEST(parse("sgd:momentum=0.0").str() == "sgd");
  BOOST_TEST(parse("sgd:nesterov=true,momentum=0.9").str() == "sgd:momentum=0.9,nesterov=true");
  BOOST_TEST(parse(parse("sgd:nesterov=true,momentum=0.9").str()).str() == "sgd:momentum=0.9,nesterov=true");
}

BOOST_AUTO_TEST_CASE(misspelt_names) {
  BOOST_TEST(refusal("sdg") == "rule: there is no 'sdg'; did you mean sgd? Known: sgd, asgd, dc-asgd-a, dana-zero");
  BOOST_TEST(contains(refusal("DC_ASGD_A"), "did you mean dc-asgd-a?"));
  BOOST_TEST(contains(refusal("dana"), "did you mean dana-zero?"));
  BOOST_TEST(contains(refusal("agsd"), "did you mean asgd?"));
  BOOST_TEST(refusal("adam-w-plus") == "rule: there is no 'adam-w-plus'. Known: sgd, asgd, dc-asgd-a, dana-zero");
  BOOST_TEST(contains(refusal(""), "there is no ''. Known"));
  BOOST_TEST(contains(refusal(" sgd"), "did you mean sgd?"));
  BOOST_TEST(contains(refusal(std::string(100000, 's')), "Known: sgd"));
}

BOOST_AUTO_TEST_CASE(misspelt_options) {
  BOOST_TEST(refusal("sgd:momentun=0.9") ==
             "rule 'sgd': it has no option 'momentun'; did you mean momentum? Its options are: momentum, nesterov");
  BOOST_TEST(contains(refusal("asgd:momentum=0.9"), "it has no option 'momentum'. Its options are: none"));
  BOOST_TEST(contains(refusal("dc-asgd-a:mean_square=worker"), "did you mean mean-square?"));
}

BOOST_AUTO_TEST_CASE(broken_grammar) {
  for (const char* text :
       {"sgd:", "sgd:momentum", "sgd:momentum=", "sgd:,", "sgd:momentum=0.9,", "sgd::momentum=0.9"}) {
    BOOST_TEST_CONTEXT(text) { BOOST_TEST(contains(refusal(text), "rule 'sgd'")); }
  }
  BOOST_TEST(contains(refusal("sgd:momentum"), "expected sgd:option=value"));
  BOOST_TEST(contains(refusal("sgd:momentum=1,momentum=2"), "option momentum is given twice"));
  BOOST_TEST(contains(refusal("sgd:=1"), "no option ''"));
}

BOOST_AUTO_TEST_CASE(bad_values) {
  const auto number = [](const std::string& text) {
    return message([&] { parse("sgd:momentum=" + text).number("momentum", 0, 0.99); });
  };
  BOOST_TEST(number("lots") == "rule 'sgd': momentum=lots is not a number from 0 to 0.99");
  for (const char* text : {"nan", "inf", "-0.1", "1", "0.9x", "0x1", " 0.5", "1e999"}) BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(contains(number(text), "is not a number from 0 to 0.99"));
    }

  const auto whole = [](const std::string& text) {
    return message([&] { parse("dc-asgd-a:steps=" + text).integer("steps", 0, 9); });
  };
  for (const char* text : {"1.5", "ten", "10", "-1", "99999999999999999999"}) BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(contains(whole(text), "is not a whole number from 0 to 9"));
    }

  BOOST_TEST(message([] { parse("sgd:nesterov=yes").flag("nesterov"); }) ==
             "rule 'sgd': nesterov=yes is not true or false");
  BOOST_TEST(contains(message([] {
                        parse("dc-asgd-a:mean-square=workers").choice("mean-square", {"server", "worker"});
                      }),
                      "mean-square=workers is not one of these; did you mean worker? They are: server, worker"));
}

BOOST_AUTO_TEST_CASE(nearest_word) {
  BOOST_TEST(tg::nearest("lente", {"mlp", "lenet"}) == "lenet");
  BOOST_TEST(tg::nearest("resnet", {"resnet56", "resnet20", "resnet8"}) == "resnet8");
  BOOST_TEST(tg::nearest("dc-asgd", {"dc-ssgd", "dc-asgd-c", "dc-asgd"}) == "dc-asgd");
  BOOST_TEST(tg::nearest("dc-asgd", {"dc-ssgd", "dc-asgd-c"}) == "dc-asgd-c");
  BOOST_TEST(tg::nearest("x", {"mlp", "lenet"}) == "");
  BOOST_TEST(tg::nearest("", {"mlp"}) == "");
  BOOST_TEST(tg::nearest("mlp", {}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
