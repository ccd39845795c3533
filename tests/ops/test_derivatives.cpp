// docs/derivatives.md is what the operations say of themselves. `test_ops --run_test=derivatives -- --write` writes it.
#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "framework/autograd/graph.h"

namespace {

using namespace tg;
namespace fs = std::filesystem;

fs::path page_path() {
  const char* root = std::getenv("TARDYGRAD_SOURCE_ROOT");
  BOOST_REQUIRE_MESSAGE(root != nullptr, "TARDYGRAD_SOURCE_ROOT is not set; run by meson test");
  return fs::path(root) / "docs" / "derivatives.md";
}

bool asked_to_write() {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  return std::any_of(suite.argv + 1, suite.argv + suite.argc,
                     [](const char* word) { return std::strcmp(word, "--write") == 0; });
}

// A table for each file of operations, in the file's order.
std::string page() {
  std::vector<const Op*> ops = all_ops();
  const auto file_of = [](const Op* op) { return fs::path(op->where().file_name()).filename().string(); };
  std::sort(ops.begin(), ops.end(), [&](const Op* a, const Op* b) {
    return std::pair(file_of(a), a->where().line()) < std::pair(file_of(b), b->where().line());
  });
  std::ostringstream out;
  out << "# Derivatives\n\n"
         "Every operation that records a node: its value, and what its derivative does with g, the gradient of the\n"
         "loss by that value. Each is checked against differences in float64 and against PyTorch's numbers\n"
         "([tests/ops](../tests/ops)).\n\n"
         "This page is written by the code and tested to be what the code says. After a change:\n\n"
         "```sh\n"
         "TARDYGRAD_SOURCE_ROOT=. build/tests/test_ops --run_test=derivatives -- --write\n"
         "```\n";
  std::string file;
  for (const Op* op : ops) {
    if (file_of(op) != file) {
      file = file_of(op);
      out << "\n## [" << fs::path(file).stem().string() << "](../framework/ops/" << file << ")\n\n"
          << "| operation | value | derivative |\n|---|---|---|\n";
    }
    const std::string row = fmt::format("| `{}` | `{}` | `{}` |\n", op->name(), op->value(), op->derivative());
    BOOST_TEST(std::count(row.begin(), row.end(), '|') == 4);  // a formula with another one would break the table
    out << row;
  }
  return out.str();
}

BOOST_AUTO_TEST_SUITE(derivatives)

BOOST_AUTO_TEST_CASE(the_page_is_what_the_code_says) {
  const std::string expected = page();
  if (asked_to_write()) std::ofstream(page_path()) << expected;
  std::ifstream in(page_path());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  BOOST_TEST((text == expected),
             "docs/derivatives.md is not what the code says; the page's head tells how to write it");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
