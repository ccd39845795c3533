#include "dist/launch/recipes.h"

#include <algorithm>

#include "dist/launch/parse.h"

namespace tg {

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> list{
      {.name = "dana-resnet20",
       .data = "cifar10",
       .model = "resnet20",
       .epochs = 160,
       .warmup = 5,
       .drop_at = {80, 120},
       .momentum = 0.9,
       .weight_decay = 1e-4},
      {.name = "dc-asgd-resnet20",
       .data = "cifar10",
       .model = "resnet20",
       .learning_rate = 0.5,
       .epochs = 160,
       .drop_at = {80, 120}},
      {.name = "dana-wrn",
       .data = "cifar10",
       .model = "wrn16-4",
       .epochs = 200,
       .warmup = 5,
       .drop_at = {60, 120, 160},
       .drop_factor = 0.2,
       .momentum = 0.9,
       .weight_decay = 5e-4},
      {.name = "resnet50-imagenet",
       .data = "imagenet",
       .model = "resnet50",
       .batch = 256,
       .epochs = 90,
       .warmup = 5,
       .drop_at = {30, 60},
       .momentum = 0.9,
       .weight_decay = 1e-4},
  };
  return list;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) names.push_back(recipe.name);
  return names;
}

const Recipe& find_recipe(const std::string& name) {
  parse_choice("--recipe", name, recipe_names());
  return *std::find_if(recipes().begin(), recipes().end(), [&](const Recipe& recipe) { return recipe.name == name; });
}

}  // namespace tg
