// docs/derivatives.md is what the operations say of themselves. `test_ops --run_test=derivatives -- --write` writes it.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "framework/autograd/graph.h"
#include "tests/generated_page.h"

namespace {

using namespace tg;
namespace fs = std::filesystem;

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
  check_page("derivatives.md", [](const std::string&) { return page(); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
