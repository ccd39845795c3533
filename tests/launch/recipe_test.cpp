// --recipe: a paper's settings, what overrides them, and what becomes of them in config.json.

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "dist/launch/plan.h"
#include "dist/launch/recipes.h"
#include "tests/launch/program.h"

using namespace tg;
namespace fs = std::filesystem;

namespace {

const std::string kShort = " --epochs 0.5 " + kQuick;

nlohmann::json config(const fs::path& folder) { return nlohmann::json::parse(text_of(folder / "config.json")); }

Plan plan_of(const std::vector<std::pair<std::string, std::string>>& typed) {
  RunOptions options;
  for (const RunOption& option : run_option_list())
    for (const auto& [flag, value] : typed)
      if (flag == option.flag) option.set(options, value);
  return make_plan(options, Unfit::refuse);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recipe)

BOOST_AUTO_TEST_CASE(the_papers_settings) {
  const Plan dana = plan_of({{"--recipe", "dana-resnet20"}, {"--data", "synthetic"}, {"--rule", "dana-zero"}});
  BOOST_TEST(dana.options.model == "resnet20");
  BOOST_TEST(dana.options.batch == 128);
  BOOST_TEST(*dana.options.learning_rate == 0.1);
  BOOST_TEST(*dana.options.momentum == 0.9);
  BOOST_TEST(dana.rule_spec.number("weight-decay", 0, 1) == 1e-4);
  BOOST_TEST(dana.options.epochs == 160);
  BOOST_TEST(dana.options.warmup == 5);
  BOOST_TEST(dana.options.drop_at == (std::vector<double>{80, 120}));
  BOOST_TEST(dana.options.drop_factor == 0.1);
  BOOST_TEST(dana.notes.empty());

  const Plan wide = plan_of({{"--recipe", "dana-wrn"}, {"--data", "synthetic"}, {"--rule", "multi-asgd"}});
  BOOST_TEST(wide.options.model == "wrn16-4");
  BOOST_TEST(wide.options.epochs == 200);
  BOOST_TEST(wide.options.drop_factor == 0.2);
  BOOST_TEST(wide.options.drop_at == (std::vector<double>{60, 120, 160}));
  BOOST_TEST(wide.rule_spec.number("weight-decay", 0, 1) == 5e-4);

  const Plan delayed = plan_of({{"--recipe", "dc-asgd-resnet20"}, {"--data", "synthetic"}, {"--rule", "dana-zero"}});
  const Plan own = plan_of({{"--rule", "dana-zero"}});
  BOOST_TEST(*delayed.options.learning_rate == 0.5);
  BOOST_TEST(delayed.options.rule == own.options.rule);
  BOOST_TEST(*delayed.options.momentum == *own.options.momentum);
  BOOST_TEST(delayed.options.warmup == 0);

  const Plan large = plan_of({{"--recipe", "resnet50-imagenet"}, {"--data", "synthetic"}});
  BOOST_TEST(large.options.batch == 256);
  BOOST_TEST(large.options.epochs == 90);
}

BOOST_AUTO_TEST_CASE(every_recipe_is_a_run_and_has_its_page) {
  const char* root = std::getenv("TARDYGRAD_SOURCE_ROOT");
  BOOST_REQUIRE_MESSAGE(root != nullptr, "TARDYGRAD_SOURCE_ROOT is not set; run by meson test");
  const std::string page = text_of(fs::path(root) / "docs/recipes.md");
  for (const std::string& name : recipe_names()) {
    BOOST_TEST(plan_of({{"--recipe", name}, {"--data", "synthetic"}}).options.recipe == name);
    BOOST_TEST(contains(page, "`" + name + "`"));
  }
}

BOOST_AUTO_TEST_CASE(a_data_set_that_cannot_be_read_is_said) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "train --recipe dana-resnet20");
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "--recipe dana-resnet20: it is for the data set cifar10"));
  BOOST_TEST(contains(outcome.err, "--data fashion-mnist"));
  const Outcome misspelt = run_in(folder, "train --recipe dana-resnet");
  BOOST_TEST(misspelt.status == 1);
  BOOST_TEST(contains(misspelt.err, "dana-resnet20"));
}

// Wherever it stands.
BOOST_AUTO_TEST_CASE(what_is_typed_beside_it_has_the_last_word) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(
      folder,
      "train --lr 0.01 --rule dana-zero:weight-decay=0 --warmup 1 --recipe dana-resnet20 --momentum 0.5 --out r" +
          kShort);
  BOOST_TEST(outcome.status == 0, outcome.err);
  const nlohmann::json written = config(folder / "r");
  BOOST_TEST(written["options"]["recipe"] == "dana-resnet20");
  BOOST_TEST(written["options"]["learning_rate"] == 0.01);
  BOOST_TEST(written["options"]["momentum"] == 0.5);
  BOOST_TEST(written["options"]["warmup"] == 1);
  BOOST_TEST(written["options"]["epochs"] == 0.5);
  BOOST_TEST(written["options"]["drop_at"] == "80,120");
  BOOST_TEST(written["rule"]["weight-decay"] == "0");
  // The run is read as it was, not as the recipe would have it.
  BOOST_TEST(run_in(folder, "replay r").status == 0);
}

BOOST_AUTO_TEST_CASE(what_the_rule_does_not_have_is_left_out) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "train --recipe dana-resnet20 --rule asgd --workers 2 --out r" + kShort);
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "note: asgd has no momentum: that of the recipe, 0.9, is for the others"));
  const nlohmann::json written = config(folder / "r");
  BOOST_TEST(written["options"]["momentum"] == 0);
  BOOST_TEST(written["rule"]["weight-decay"] == "0.0001");
  BOOST_TEST(run_in(folder, "replay r").status == 0);
}

// Also what engines are told by flags of their own.
BOOST_AUTO_TEST_CASE(clipping_and_exact_gaps_are_recorded) {
  const TemporaryFolder folder;
  const std::string command = "train --rule dana-zero --workers 4 --epochs 1 --data synthetic --seed 3";
  run_in(folder, command + " --out plain");
  run_in(folder, command + " --clip-norm 0.5 --out clipped");
  run_in(folder, command + " --exact-gap --out exact");
  BOOST_TEST(config(folder / "clipped")["options"]["clip_norm"] == 0.5);
  BOOST_TEST(config(folder / "exact")["options"]["exact_gap"] == "true");
  for (const char* run : {"plain", "clipped", "exact"})
    BOOST_TEST(run_in(folder, std::string("replay ") + run).status == 0);
  const auto row = [&](const char* run) { return read_csv(folder / run / "summary.csv").front(); };
  BOOST_TEST(row("clipped").at("train_loss") != row("plain").at("train_loss"));
  BOOST_TEST(row("exact").at("train_loss") == row("plain").at("train_loss"));
  BOOST_TEST(row("exact").at("mean_gap") != row("plain").at("mean_gap"));
  BOOST_TEST(std::stod(row("exact").at("mean_gap")) == std::stod(row("plain").at("mean_gap")),
             boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_SUITE_END()
