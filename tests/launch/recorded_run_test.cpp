#include "dist/launch/recorded_run.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "dist/launch/run.h"
#include "framework/io/file.h"
#include "tests/launch/program.h"

namespace fs = std::filesystem;
using namespace tg;

namespace {

// A run's plan and layout, read from its folder.
std::pair<RecordedRun, Layout> read(const fs::path& folder) {
  RecordedRun run = read_run(folder, "");
  LoadedData data;
  Layout layout = make_task(run.plan, data.get(run.plan.options)).layout();
  return {std::move(run), std::move(layout)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recorded_run)

BOOST_AUTO_TEST_CASE(a_run_is_read_as_it_was_asked_for) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> asked = {
      {"--data", "synthetic"},
      {"--model", "mlp:hidden=8"},
      {"--rule", "dana-zero:weight-decay=0.001"},
      {"--workers", "3"},
      {"--epochs", "0.5"},
      {"--batch", "64"},
      {"--lr", "0.0137"},
      {"--momentum", "0.85"},
      {"--warmup", "0.1"},
      {"--drop-at", "0.2,0.3"},
      {"--drop-factor", "0.3"},
      {"--clock", "heterogeneous"},
      {"--evaluate-every", "0.25"},
      {"--threads-per-worker", "2"},
      {"--pool-threads", "1"},
      {"--seed", "18446744073709551615"},
  };
  std::string words = "train --out r";
  RunOptions options;
  for (const auto& [flag, value] : asked) {
    words += " " + flag + " " + value;
    for (const RunOption& option : run_option_list())
      if (option.flag == flag) option.set(options, value);
  }
  BOOST_REQUIRE(run_in(folder, words).status == 0);
  const auto [run, layout] = read(folder / "r");
  BOOST_TEST(identity(run.plan, true) == identity(make_plan(options, Unfit::refuse), true));
  BOOST_TEST(run.plan.options.momentum.value() == 0.85);
  BOOST_REQUIRE(run.logs.size() == 1u);
  BOOST_TEST((run.logs.front().events.back().kind == Event::Kind::finish));
  BOOST_CHECK_NO_THROW(check_logs(run, layout));
  BOOST_TEST(read_run(folder / "r", "/elsewhere").plan.options.data_dir == "/elsewhere");
}

BOOST_AUTO_TEST_CASE(defaults_are_read_as_such) {
  const TemporaryFolder folder;
  for (const std::string rule : {"asgd", "sgd", "multi-asgd"}) {
    BOOST_REQUIRE(run_in(folder, "train --epochs 0.1 --rule " + rule + kQuick + "--out " + rule).status == 0);
    const auto [run, layout] = read(folder / rule);
    BOOST_TEST(run.plan.options.rule == rule);
    BOOST_CHECK_NO_THROW(check_logs(run, layout));
  }
}

BOOST_AUTO_TEST_CASE(what_belongs_to_another_run_is_refused) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --epochs 0.1 --out a" + kQuick).status == 0);
  BOOST_REQUIRE(run_in(folder, "train --epochs 0.1 --out b --seed 2" + kQuick).status == 0);
  fs::copy_file(folder / "b/events.bin", folder / "a/events.bin", fs::copy_options::overwrite_existing);
  const auto [run, layout] = read(folder / "a");
  BOOST_TEST(contains(error_of([&, &run = run, &layout = layout] { check_logs(run, layout); }),
                      "events.bin was not written by the run that config.json describes"));
}

// Opening a pipe waits for somebody who writes to it.
BOOST_AUTO_TEST_CASE(a_pipe_in_place_of_a_file_is_refused) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --epochs 0.5 --snapshot-every 8 --out r" + kQuick).status == 0);
  const auto refused = [&](const std::string& arguments) { return run_in(folder, arguments).err; };
  const auto with_pipe = [&](const fs::path& file, const std::string& arguments) {
    fs::rename(file, folder / "kept");
    BOOST_REQUIRE(mkfifo(file.c_str(), 0600) == 0);
    const std::string err = refused(arguments);
    fs::remove(file);
    fs::rename(folder / "kept", file);
    return err;
  };
  BOOST_TEST(contains(with_pipe(folder / "r/events.bin", "replay r"), "r/events.bin: not a file"));
  BOOST_TEST(contains(with_pipe(folder / "r/config.json", "replay r"), "r/config.json: not a file"));
  BOOST_TEST(contains(with_pipe(folder / "r/summary.csv", "train --resume r"), "r/summary.csv: not a file"));
  fs::remove(folder / "r/summary.csv");
  for (const auto& entry : fs::directory_iterator(folder / "r/snapshots")) {
    fs::remove(entry.path());
    BOOST_REQUIRE(mkfifo(entry.path().c_str(), 0600) == 0);
  }
  BOOST_TEST(contains(refused("train --resume r"), ".safetensors: not a file"));
}

BOOST_AUTO_TEST_CASE(what_is_no_run_is_refused) {
  const TemporaryFolder folder;
  const auto refused = [&] { return error_of([&] { read_run(folder.str(), ""); }); };
  BOOST_TEST(contains(refused(), "config.json: No such file or directory; a run's folder has this file"));
  for (const std::string text : {"", "{", "[]", "{}", "{\"options\": 3}", "\xff\xfe"}) {
    write_file(folder / "config.json", text);
    BOOST_TEST(contains(refused(), "config.json: this is no run's configuration"), text);
  }
  write_file(folder / "config.json", std::string((1 << 20) + 1, ' '));
  BOOST_TEST(contains(refused(), "1048577 bytes are no run's configuration"));
  for (const std::string options :
       {"{\"workers\": \"x\"}", "{\"workers\": 0}", "{\"workers\": [1]}", "{\"learning_rate\": {}}",
        "{\"learning_rate\": 1e999}", "{\"rule\": \"sdg\"}", "{\"shards\": 2}"}) {
    write_file(folder / "config.json", "{\"options\": " + options + "}");
    BOOST_TEST(contains(refused(), "config.json: "), options << ": " << refused());
  }
  write_file(folder / "config.json", "{\"options\": {}}");
  BOOST_TEST(contains(refused(), "events"));
}

BOOST_AUTO_TEST_SUITE_END()
