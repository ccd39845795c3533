#include <boost/test/unit_test.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "dist/launch/parse.h"
#include "dist/launch/table.h"
#include "framework/core/error.h"
#include "tests/launch/program.h"

using nlohmann::json;

BOOST_AUTO_TEST_SUITE(model_info)

BOOST_AUTO_TEST_CASE(a_model_is_listed_layer_by_layer) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "info --model lenet --batch 128");
  BOOST_TEST(outcome.status == 0);
  for (const char* part :
       {"lenet: two convolutions", "batch [128, 28, 28, 1], 10 classes",
        "conv2  conv2d      [128, 8, 8, 64]         51264  838.9 M\n", "       max_pool2d  [128, 4, 4, 64]\n",
        "parameters       184586\n", "FLOPs, forward   990.7 M\n", "FLOPs, a step    2.854 G with the gradient\n",
        "parameters 738.4 kB, gradient 738.4 kB"})
    BOOST_TEST(contains(outcome.out, part), part << " in " << outcome.out);
}

BOOST_AUTO_TEST_CASE(and_as_json) {
  const TemporaryFolder folder;
  const json all = json::parse(run_in(folder, "info --model alexnet:groups=1 --batch 2 --json").out);
  BOOST_TEST(all["model"] == "alexnet:groups=1");
  BOOST_TEST((all["input"] == json{224, 224, 3}));
  BOOST_TEST(all["classes"] == 1000);
  BOOST_TEST(all["batch"] == 2);
  BOOST_TEST(all["parameters"] == 62378344);
  const json& first = all["layers"].front();
  BOOST_TEST(first["layer"] == "conv1");
  BOOST_TEST(first["operation"] == "conv2d");
  BOOST_TEST((first["output"] == json{2, 55, 55, 96}));
  BOOST_TEST(first["parameters"] == 34944);
  BOOST_TEST(first["flops"] == 2 * 2 * 55 * 55 * 96 * 363);
  BOOST_TEST(all["bytes"]["parameters"].get<int64_t>() >= 4 * 62378344);
  BOOST_TEST(all["bytes"]["step"].get<int64_t>() > 2 * all["bytes"]["parameters"].get<int64_t>());
  BOOST_TEST(all["flops"]["step"].get<int64_t>() > 2 * all["flops"]["forward"].get<int64_t>());

  const json other = json::parse(run_in(folder, "info --model lenet --input 40x32x3 --classes 7 --json").out);
  BOOST_TEST((other["layers"].front()["output"] == json{1, 36, 28, 32}));
  BOOST_TEST((other["layers"].back()["output"] == json{1, 7}));
}

BOOST_AUTO_TEST_CASE(batches_that_no_machine_could_hold_take_no_time) {
  const TemporaryFolder folder;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const json all = json::parse(run_in(folder, "info --model vgg19 --batch 65536 --json").out);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    BOOST_TEST(all["bytes"]["step"].get<double>() > 2e12);
  }
#if defined(__SANITIZE_ADDRESS__)
  BOOST_TEST(best < 1.5);
#else
  BOOST_TEST(best < 0.2);
#endif
}

BOOST_AUTO_TEST_CASE(mistakes_about_models) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> mistakes{
      {"info --model lenett", {"did you mean lenet?"}},
      {"info --model alexnet:groups=3", {"groups=3"}},
      {"info --batch 3", {"--batch is for a model"}},
      {"info --model lenet --data-dir x", {"--data-dir"}},
      {"info --model lenet --batch 0", {"--batch", "from 1"}},
      {"info --model lenet --classes 1", {"--classes", "from 2"}},
      {"info --model lenet --input 28x28x", {"--input", "28x28x1", "'28x28x'"}},
      {"info --model lenet --input 28x28x1x1", {"--input"}},
      {"info --model lenet --input 28,28,1", {"--input"}},
      {"info --model lenet --input 0x28x1", {"--input", "from 1"}},
      {"info --model lenet --input 28x28", {"lenet: takes pictures [H, W, C]", "[28, 28]"}},
      {"info --model resnet50 --input 28x28x1", {"at least 32 x 32"}},
      {"info --model wrn16-4 --input 16384x16384x16384 --batch 65536", {"too many elements"}},
      {"train --data synthetic --model resnet50",
       {"resnet50: takes pictures [H, W, C] of at least 32 x 32", "[28, 28, 1]"}},
      {"bench step --model vgg19 --batch 65536", {"GB of memory", "--batch"}},
  };
  for (const auto& [arguments, told] : mistakes) {
    const TemporaryFolder folder;
    const Outcome outcome = run_in(folder, arguments);
    BOOST_TEST(outcome.status == 1, arguments);
    BOOST_TEST(outcome.out == "", arguments);
    for (const std::string& part : told) BOOST_TEST(contains(outcome.err, part), part << " in " << outcome.err);
  }
}

BOOST_AUTO_TEST_CASE(numbers_in_few_letters) {
  BOOST_TEST(tg::quantity(0) == "0");
  BOOST_TEST(tg::quantity(12) == "12");
  BOOST_TEST(tg::quantity(999) == "999");
  BOOST_TEST(tg::quantity(1000) == "1.000 k");
  BOOST_TEST(tg::quantity(999'960) == "1.000 M");
  BOOST_TEST(tg::quantity(8'178e6) == "8.178 G");
  BOOST_TEST(tg::quantity(118e6) == "118.0 M");
}

BOOST_AUTO_TEST_CASE(shapes_as_they_are_typed) {
  BOOST_TEST((tg::parse_shape("--input", "28x28x1") == tg::Shape{28, 28, 1}));
  BOOST_TEST((tg::parse_shape("--input", "784") == tg::Shape{784}));
  for (const char* bad : {"", "x", "28x", "x28", "1x2x3x4", "-1x2", "16385", "3.5", "99999999999999999999"})
    BOOST_CHECK_THROW(tg::parse_shape("--input", bad), tg::Error);
}

BOOST_AUTO_TEST_SUITE_END()
