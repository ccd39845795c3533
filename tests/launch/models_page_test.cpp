// The parts of docs/models.md that the code writes: its table, and what `tardygrad info --model` answers.

#include <boost/test/unit_test.hpp>

#include "dist/launch/table.h"
#include "framework/nn/cost.h"
#include "framework/nn/models/models.h"
#include "tests/generated_page.h"
#include "tests/launch/program.h"

using namespace tg;

namespace {

std::string with_commas(int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = std::ssize(digits) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string row(const std::string& name) {
  const Spec spec = Spec::parse(name, model_infos(), "model");
  const Shape input = usual_input(spec);
  const ModelCost cost = cost_of(make_model(spec, input, usual_classes(spec)), batch_of(1, input));
  std::string sizes;
  for (const int64_t dim : input) sizes += (sizes.empty() ? "" : " x ") + std::to_string(dim);
  std::string summary;
  for (const SpecInfo& info : model_infos())
    if (info.name == spec.name()) summary = info.summary;
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", name, sizes, usual_classes(spec),
                     with_commas(cost.parameters), quantity(cost.forward_flops), summary);
}

std::string models_table() {
  std::string table =
      "| model | input | classes | parameters | FLOPs | what it is |\n"
      "|---|---|---|---|---|---|\n";
  for (const SpecInfo& info : model_infos()) {
    table += row(info.name);
    if (info.name == "mlp") table += row("mlp:hidden=4096");
    if (info.name == "alexnet") table += row("alexnet:groups=1");
  }
  return table;
}

// A command's answer, without the lines in the middle of its table.
std::string answer(const std::string& arguments) {
  constexpr std::ptrdiff_t kFirst = 12, kLast = 13;
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, arguments);
  BOOST_TEST(outcome.status == 0);
  std::vector<std::string> lines;
  std::istringstream in(outcome.out);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::string text = "```sh\nbuild/tardygrad " + arguments + "\n```\n```\n";
  for (std::ptrdiff_t i = 0; i < std::ssize(lines); ++i) {
    const bool left_out = i >= kFirst && i < std::ssize(lines) - kLast;
    if (!left_out) text += lines[static_cast<std::size_t>(i)] + '\n';
    if (left_out && i == kFirst) text += "...\n";
  }
  return text + "```\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(models_page)

BOOST_AUTO_TEST_CASE(the_page_has_what_the_code_says) {
  check_page("models.md", [](const std::string& page) {
    return with_part(with_part(page, "table", models_table()), "resnet50", answer("info --model resnet50"));
  });
}

BOOST_AUTO_TEST_SUITE_END()
