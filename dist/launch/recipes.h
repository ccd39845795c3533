#pragma once
// Recipes: the settings of the papers' experiments by name. docs/recipes.md says where each value is from.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tg {

struct Recipe {
  std::string name, data, model;
  int64_t batch = 128;
  double learning_rate = 0.1;
  double epochs = 0, warmup = 0;  // epochs
  std::vector<double> drop_at;    // epochs
  double drop_factor = 0.1;
  // For rules that have such an option and are not given it; empty: the rule's default.
  std::optional<double> momentum{}, weight_decay{};
};

const std::vector<Recipe>& recipes();
std::vector<std::string> recipe_names();
// Throws Error for an unknown name, with the nearest right one.
const Recipe& find_recipe(const std::string& name);

}  // namespace tg
