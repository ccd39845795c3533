// `tardygrad train --snapshot-every` and `--resume`: stopped, killed, with damaged files, on a full disk.

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "dist/snapshot/folder.h"
#include "framework/io/file.h"
#include "tests/launch/program.h"

namespace fs = std::filesystem;

namespace {

// Some 200 ms long.
const std::string kRun = "train --workers 4 --epochs 12 --evaluate-every 0.7 --lr 0.005" + kQuick;

std::string results_and_events(const fs::path& folder) { return results(folder) + text_of(folder / "events.bin"); }

std::vector<tg::SnapshotPlace> snapshots_of(const fs::path& folder) { return tg::list_snapshots(folder); }

// Starts a run or goes on with one, ends it by a signal when it has taken so many more gradients, and returns its
// status; 0 if it was done before.
int interrupt(const TemporaryFolder& folder, const std::string& arguments, const fs::path& run, int64_t gradients,
              int signal) {
  const auto newest = [&] {
    const auto places = snapshots_of(run);
    return places.empty() ? 0 : places.front().number;
  };
  const int64_t wanted = newest() + gradients;
  const pid_t process = start_in(folder, arguments);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (newest() < wanted && !fs::exists(run / "summary.csv") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(process, signal);
  return wait_for(process);
}

void cut(const fs::path& file, std::uintmax_t by) { fs::resize_file(file, fs::file_size(file) - by); }

}  // namespace

BOOST_AUTO_TEST_SUITE(resume)

BOOST_AUTO_TEST_CASE(stopped_and_killed_again_and_again_it_comes_to_the_same_bytes) {
  for (const std::string how : {"--rule dana-zero", "--rule ssgd:backup=1 --clock heterogeneous"}) {
    BOOST_TEST_CONTEXT(how) {
      const TemporaryFolder folder;
      BOOST_REQUIRE(run_in(folder, kRun + how + " --out whole").status == 0);
      BOOST_TEST(!fs::exists(folder / "whole/snapshots"));
      const fs::path run = folder / "parts";
      const int first = interrupt(folder, kRun + how + " --snapshot-every 5 --out parts", run, 40, SIGINT);
      BOOST_TEST((first == 130 || first == 0));
      if (first == 130) {
        BOOST_TEST(contains(text_of(folder / "out"), "to go on: tardygrad train --resume parts"));
        BOOST_TEST(read_csv(run / "summary.csv").at(0).at("status") == "stopped");
        fs::remove(run / "summary.csv");
      }
      for (int i = 0; i < 3; ++i) interrupt(folder, "train --resume parts", run, 40, SIGKILL);
      const Outcome last = run_in(folder, "train --resume parts");
      BOOST_TEST(last.status == 0);
      BOOST_TEST(last.err == "");
      BOOST_TEST(snapshots_of(run).size() == tg::kSnapshotsKept);
      BOOST_TEST((results_and_events(folder / "whole") == results_and_events(run)));
      for (const char* picture : {"loss.svg", "error.svg", "lag.svg", "gap.svg"}) BOOST_TEST(fs::exists(run / picture));
      const Outcome again = run_in(folder, "train --resume parts");
      BOOST_TEST(again.status == 0);
      BOOST_TEST(again.out == "parts: the run has finished, there is nothing to do\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(on_threads_what_went_on_is_replayed_as_one_run) {
  for (const std::string how : {"--rule dc-asgd-a --shards 2", "--rule dana-zero --gate bsp:backup=1"}) {
    BOOST_TEST_CONTEXT(how) {
      const TemporaryFolder folder;
      const fs::path run = folder / "r";
      interrupt(folder, kRun + "--engine threads --snapshot-every 20 --out r " + how, run, 20, SIGINT);
      const bool stopped = read_csv(run / "summary.csv").at(0).at("status") == "stopped";
      if (stopped) fs::remove(run / "summary.csv");
      if (stopped) interrupt(folder, "train --resume r", run, 20, SIGKILL);
      BOOST_TEST(run_in(folder, "train --resume r").status == 0);
      BOOST_TEST(read_csv(run / "summary.csv").at(0).at("status") == "finished");
      const Outcome replay = run_in(folder, "replay r");
      BOOST_TEST(replay.status == 0);
      BOOST_TEST(contains(replay.out, "the same: 384 updates"), replay.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_snapshot_is_named_and_the_one_before_is_used) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kRun + "--out whole").status == 0);
  BOOST_REQUIRE(run_in(folder, kRun + "--out parts --snapshot-every 100").status == 0);
  fs::remove(folder / "parts/summary.csv");  // as if it had been killed just before
  const auto places = snapshots_of(folder / "parts");
  BOOST_REQUIRE(places.size() == 2u);
  BOOST_TEST(places[0].number == 300);
  cut(places[0].path, 1000);
  const Outcome first = run_in(folder, "train --resume parts");
  BOOST_TEST(first.status == 0);
  BOOST_TEST(contains(first.out, "note: not used: parts/snapshots/300.safetensors: "), first.out);
  BOOST_TEST(contains(first.out, "goes on after 200 of 384 gradients, from parts/snapshots/200.safetensors"),
             first.out);
  BOOST_TEST((results_and_events(folder / "whole") == results_and_events(folder / "parts")));

  // One that is whole, but whose run's files are not.
  fs::remove(folder / "parts/summary.csv");
  fs::resize_file(folder / "parts/metrics.csv", 10);
  const Outcome none = run_in(folder, "train --resume parts");
  BOOST_TEST(none.status == 1);
  BOOST_TEST(none.out == "");
  BOOST_TEST(contains(none.err, "parts: none of its snapshots can be used:"), none.err);
  BOOST_TEST(contains(none.err, "300.safetensors: parts/metrics.csv: it has 10 bytes; it had "), none.err);
  BOOST_TEST(contains(none.err, "200.safetensors: parts/metrics.csv: it has 10 bytes; it had "), none.err);
  BOOST_TEST(text_of(folder / "parts/metrics.csv").size() == 10u);
}

BOOST_AUTO_TEST_CASE(what_belongs_to_another_run_is_refused_and_the_option_is_named) {
  const TemporaryFolder folder;
  for (const std::string run : {"a --seed 1", "b --seed 2"}) {
    BOOST_REQUIRE(run_in(folder, kRun + "--snapshot-every 300 --out " + run).status == 0);
    fs::remove(folder / run.substr(0, 1) / "summary.csv");
  }
  const fs::path snapshot = folder / "a/snapshots/300.safetensors";
  const std::string before = text_of(folder / "a/events.bin"), own = text_of(snapshot);
  fs::copy_file(folder / "b/snapshots/300.safetensors", snapshot, fs::copy_options::overwrite_existing);
  const Outcome outcome = run_in(folder, "train --resume a");
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err,
                      "300.safetensors: it is a snapshot of another run: its seed is '2', that of "
                      "config.json is '1'"),
             outcome.err);
  BOOST_TEST((text_of(folder / "a/events.bin") == before));

  // An option that changes no result may be changed.
  std::ofstream(snapshot, std::ios::binary) << own;
  std::string config = text_of(folder / "a/config.json");
  const std::string pool = "\"pool_threads\": 0";
  BOOST_REQUIRE(contains(config, pool));
  config.replace(config.find(pool), pool.size(), "\"pool_threads\": 1");
  std::ofstream(folder / "a/config.json") << config;
  BOOST_TEST(run_in(folder, "train --resume a").status == 0);
  BOOST_TEST((text_of(folder / "a/events.bin") == before));
}

// The limit on a file's size fails a write as a full disk does; the snapshots alone are above it.
BOOST_AUTO_TEST_CASE(on_a_full_disk_the_snapshot_before_stays_and_the_run_goes_on) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kRun + "--out whole").status == 0);
  BOOST_REQUIRE(run_in(folder, kRun + "--out parts --snapshot-every 200").status == 0);
  fs::remove(folder / "parts/summary.csv");
  const std::string kept = text_of(folder / "parts/snapshots/200.safetensors");
  std::string config = text_of(folder / "parts/config.json");
  config.replace(config.find("\"snapshot_every\": 200"), 21, "\"snapshot_every\": 50");
  std::ofstream(folder / "parts/config.json") << config;
  const Outcome outcome = run_in(folder, "--version; ulimit -f 200; " + program() + " train --resume parts");
  BOOST_TEST(outcome.status == 0);
  for (const int gradients : {250, 300, 350})
    BOOST_TEST(contains(outcome.out, "note: no snapshot after " + std::to_string(gradients) +
                                         " gradients; the one before stays in use: parts/snapshots/"),
               outcome.out);
  BOOST_TEST((results_and_events(folder / "whole") == results_and_events(folder / "parts")));
  BOOST_TEST((text_of(folder / "parts/snapshots/200.safetensors") == kept));
  BOOST_TEST(std::distance(fs::directory_iterator(folder / "parts/snapshots"), fs::directory_iterator()) == 1);
}

BOOST_AUTO_TEST_CASE(a_run_that_lives_is_not_gone_on_with) {
  const TemporaryFolder folder;
  const fs::path run = folder / "r";
  const pid_t process = start_in(folder, "train --epochs 100000 --workers 2 --snapshot-every 20 --out r" + kQuick);
  for (int i = 0; i < 30'000 && snapshots_of(run).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Outcome outcome = run_in(folder, "train --resume r");
  ::kill(process, SIGKILL);
  wait_for(process);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "r/metrics.csv: another process is writing to it"));
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_on_another_machine) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kRun + "--engine threads --cores 0 --shards 2 --snapshot-every 100 --out r").status ==
                0);
  fs::remove(folder / "r/summary.csv");
  std::string config = text_of(folder / "r/config.json");
  const auto change = [&](const std::string& from, const std::string& to) {
    config.replace(config.find(from), from.size(), to);
  };
  change("\"cores\": \"0\"", "\"cores\": \"65000\"");
  change("\"compiler\": \"", "\"compiler\": \"another ");
  tg::write_file(folder / "r/config.json", config);
  BOOST_TEST(contains(run_in(folder, "train --resume r").err, "there is no core 65000"));
  BOOST_TEST(contains(run_in(folder, "train --resume r --cores any --pool-threads 2").err, "--pool-threads 2 is for"));
  const Outcome outcome = run_in(folder, "train --resume r --cores any --data-dir elsewhere");
  BOOST_TEST(outcome.status == 0, outcome.err);
  BOOST_TEST(contains(outcome.out, "other last bits; since the run was made:\n  compiler was \"another "), outcome.out);
  BOOST_TEST(contains(run_in(folder, "replay r").out, "the same: 384 updates"));
}

BOOST_AUTO_TEST_CASE(a_snapshot_under_another_number_is_not_used) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kRun + "--snapshot-every 100 --out r").status == 0);
  fs::remove(folder / "r/summary.csv");
  fs::rename(folder / "r/snapshots/300.safetensors", folder / "r/snapshots/999.safetensors");
  const Outcome outcome = run_in(folder, "train --resume r");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "not used: r/snapshots/999.safetensors: it was renamed: it was taken after 300 "),
             outcome.out);
  BOOST_TEST(contains(outcome.out, "goes on after 200 of 384 gradients"), outcome.out);
}

BOOST_AUTO_TEST_CASE(mistakes_are_told) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --epochs 0.1 --out plain" + kQuick).status == 0);
  fs::remove(folder / "plain/summary.csv");
  BOOST_REQUIRE(run_in(folder, "train --lr 1e6 --workers 2 --epochs 2 --out far" + kQuick).status == 2);
  fs::create_directory(folder / "empty");
  const auto told = [&](const std::string& arguments) {
    const Outcome outcome = run_in(folder, "train " + arguments);
    BOOST_TEST(outcome.status == 1);
    BOOST_TEST(outcome.out == "");
    return outcome.err;
  };
  BOOST_TEST(contains(told("--resume nowhere"), "nowhere: there is no such folder"));
  BOOST_TEST(contains(told("--resume empty"), "empty/config.json: No such file"));
  BOOST_TEST(contains(told("--resume plain"), "plain: there is no snapshot to go on from"));
  BOOST_TEST(contains(told("--resume plain --lr 0.1"), "leave out --lr"));
  BOOST_TEST(contains(told("--resume plain --out other"), "leave out --out"));
  BOOST_TEST(contains(told("--snapshot-every -1"), "--snapshot-every: expected a whole number from 0"));
  const Outcome diverged = run_in(folder, "train --resume far");
  BOOST_TEST(diverged.status == 2);
  BOOST_TEST(contains(diverged.out, "far: the run has diverged, there is nothing to do"));
}

BOOST_AUTO_TEST_SUITE_END()
