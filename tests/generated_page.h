#pragma once
// Pages of docs/ that are written by the code, in whole or in part, and tested to be what it says. A test program
// writes its pages with `TARDYGRAD_SOURCE_ROOT=. build/tests/test_... --run_test=... -- --write`.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

// `rewritten` turns the page's present text into what it should be.
inline void check_page(const std::string& name, const std::function<std::string(const std::string&)>& rewritten) {
  const char* root = std::getenv("TARDYGRAD_SOURCE_ROOT");
  BOOST_REQUIRE_MESSAGE(root != nullptr, "TARDYGRAD_SOURCE_ROOT is not set; run by meson test");
  const std::filesystem::path path = std::filesystem::path(root) / "docs" / name;
  const auto text = [&] {
    std::ifstream in(path);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  const std::string expected = rewritten(text());
  const auto& suite = boost::unit_test::framework::master_test_suite();
  const bool write = std::any_of(suite.argv + 1, suite.argv + suite.argc,
                                 [](const char* word) { return std::strcmp(word, "--write") == 0; });
  if (write) std::ofstream(path) << expected;
  BOOST_TEST((text() == expected), "docs/" << name << " is not what the code says; the page tells how to write it");
}

// `page` with `part` between the lines <!-- begin NAME --> and <!-- end NAME -->. Fails the test if they are not there.
inline std::string with_part(const std::string& page, const std::string& name, const std::string& part) {
  const std::string begin = "<!-- begin " + name + " -->\n", end = "<!-- end " + name + " -->\n";
  const std::size_t from = page.find(begin), to = page.find(end);
  BOOST_REQUIRE_MESSAGE(from != std::string::npos && to != std::string::npos && from < to,
                        "the page has no place for '" << name << "'");
  return page.substr(0, from + begin.size()) + part + page.substr(to);
}
