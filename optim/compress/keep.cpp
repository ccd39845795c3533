#include "optim/compress/keep.h"

#include <fmt/format.h>

#include "framework/core/error.h"

namespace tg {

namespace {

// Each * takes as little as it can, and more when what follows does not fit.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

std::vector<OptionInfo> KeepFloat32::options(int64_t min_elements) {
  return {{"min-elements", fmt::format("{}", min_elements), "smaller tensors stay float32, 0 to 1000000000000"},
          {"keep-fp32", "none", "tensors that stay float32, by name: *bias+conv1.*, where * is any letters"}};
}

KeepFloat32 KeepFloat32::from(const Spec& spec) {
  const std::string& names = spec.text("keep-fp32");
  return {.min_elements = spec.integer("min-elements", 0, 1'000'000'000'000), .names = names == "none" ? "" : names};
}

std::vector<bool> kept_float32(const Layout& layout, const KeepFloat32& keep) {
  std::vector<bool> kept;
  for (const Layout::Entry& entry : layout.entries()) kept.push_back(entry.shape.count() < keep.min_elements);
  for (std::string_view rest = keep.names; !rest.empty();) {
    const std::size_t plus = std::min(rest.find('+'), rest.size());
    const std::string_view pattern = rest.substr(0, plus);
    rest.remove_prefix(std::min(plus + 1, rest.size()));
    bool found = false;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      names.push_back(layout.entries()[i].name);
      if (!matches(pattern, names.back())) continue;
      kept[i] = true;
      found = true;
    }
    if (!found) fail("keep-fp32: '{}' matches no parameter{}", pattern, suggestion(pattern, names, "The parameters: "));
  }
  return kept;
}

}  // namespace tg
