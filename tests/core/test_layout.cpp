// Where parameters lie in the flat vector.
#include <boost/test/unit_test.hpp>

#include "framework/core/error.h"
#include "framework/core/layout.h"

namespace {

using tg::Layout;
using tg::Shape;

Layout two_layers() {
  Layout layout;
  layout.add("fc1.weight", Shape{3, 7});
  layout.add("fc1.bias", Shape{7});
  layout.add("scale", Shape{});
  layout.add("fc2.weight", Shape{16, 2});
  return layout;
}

bool refused_with(const tg::Error& e, const std::string& part) {
  return std::string(e.what()).find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(layout)

BOOST_AUTO_TEST_CASE(parameters_start_on_64_bytes) {
  Layout layout;
  BOOST_TEST(layout.add("fc1.weight", Shape{3, 7}) == 0);
  BOOST_TEST(layout.add("fc1.bias", Shape{7}) == 32);
  BOOST_TEST(layout.add("scale", Shape{}) == 48);
  BOOST_TEST(layout.add("fc2.weight", Shape{16, 2}) == 64);
  BOOST_TEST(layout.size() == 96);  // gaps included
  BOOST_TEST(layout.count() == 21 + 7 + 1 + 32);
  BOOST_TEST(layout.entries().size() == 4u);
}

BOOST_AUTO_TEST_CASE(empty_parameters_take_no_room) {
  Layout layout;
  BOOST_TEST(layout.size() == 0);
  layout.add("none", Shape{0, 5});
  BOOST_TEST(layout.add("some", Shape{2}) == 0);
  BOOST_TEST(layout.count() == 2);
}

BOOST_AUTO_TEST_CASE(parameters_are_found_by_name) {
  const Layout layout = two_layers();
  BOOST_TEST(layout.find("fc1.bias").offset == 32);
  BOOST_CHECK(layout.find("fc2.weight").shape == (Shape{16, 2}));
  BOOST_CHECK_EXCEPTION(layout.find("fc1.wieght"), tg::Error,
                        [](const auto& e) { return refused_with(e, "did you mean fc1.weight? It has: fc1.weight, "); });
}

BOOST_AUTO_TEST_CASE(bad_parameters_are_refused) {
  Layout layout = two_layers();
  BOOST_CHECK_EXCEPTION(layout.add("fc1.bias", Shape{2}), tg::Error,
                        [](const auto& e) { return refused_with(e, "two parameters are called 'fc1.bias'"); });
  BOOST_CHECK_THROW(layout.add("", Shape{2}), tg::Error);
  const int64_t huge = int64_t{1} << 55;
  layout.add("huge", Shape{huge});
  BOOST_CHECK_EXCEPTION(layout.add("too much", Shape{huge}), tg::Error,
                        [](const auto& e) { return refused_with(e, "too long"); });
  BOOST_CHECK(layout.entries().size() == 5u);  // a refused parameter leaves no trace
}

BOOST_AUTO_TEST_CASE(the_hash_tells_layouts_apart) {
  const Layout a = two_layers();
  BOOST_CHECK(a == two_layers());
  BOOST_TEST(a.hash() == two_layers().hash());

  Layout renamed, reshaped, shorter;
  renamed.add("fc1.weights", Shape{3, 7});
  reshaped.add("fc1.weight", Shape{7, 3});
  shorter.add("fc1.weight", Shape{3, 7});
  for (const Layout* other : {&renamed, &reshaped, &shorter}) {
    BOOST_CHECK(!(a == *other));
    BOOST_TEST(a.hash() != other->hash());
  }
  BOOST_TEST(renamed.hash() != shorter.hash());
  BOOST_TEST(reshaped.hash() != shorter.hash());
  // Fixed for ever: peers on other machines compare it.
  BOOST_TEST(tg::flat_layout(10).hash() == 0x5d47f213bfb43d5fu);
}

BOOST_AUTO_TEST_CASE(flat) {
  const Layout layout = tg::flat_layout(37);
  BOOST_TEST(layout.size() == 48);
  BOOST_TEST(layout.count() == 37);
  BOOST_TEST(layout.find("theta").offset == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
