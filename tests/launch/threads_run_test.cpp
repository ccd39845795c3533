// `tardygrad train --engine threads` and `tardygrad replay`.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "dist/history/event_log.h"
#include "framework/io/file.h"
#include "tests/launch/program.h"

namespace fs = std::filesystem;

namespace {

const std::string kThreads = "train --engine threads --epochs 1 --lr 0.005" + kQuick;

bool is_whole(const fs::path& file) {
  const tg::EventLog log = tg::read_event_log(file);
  return log.unfinished_bytes == 0 && log.events.back().kind == tg::Event::Kind::finish;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(threads_run)

BOOST_AUTO_TEST_CASE(a_run_on_threads_leaves_what_a_simulated_one_does) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, kThreads + "--rule dana-zero --workers 3 --out r");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  const auto row = summary(folder / "r");
  BOOST_TEST(row.at("status") == "finished");
  BOOST_TEST(row.at("engine") == "threads");
  BOOST_TEST(row.at("virtual_time") == "0");
  BOOST_TEST(row.at("workers_lost") == "0");
  BOOST_TEST(std::stod(row.at("mean_gap")) >= 0);
  BOOST_TEST(std::stod(row.at("seconds")) > 0);
  BOOST_TEST(read_csv(folder / "r/metrics.csv").size() == 4u);
  BOOST_TEST(read_csv(folder / "r/workers.csv").size() == 3u);
  BOOST_TEST(is_whole(folder / "r/events.bin"));
  for (const char* picture : {"loss.svg", "error.svg", "lag.svg", "gap.svg"})
    BOOST_TEST(contains(text_of(folder / "r" / picture), "<path"));
}

BOOST_AUTO_TEST_CASE(shards_are_announced_and_have_logs_of_their_own) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, kThreads + "--rule asgd --workers 2 --shards 2 --out r");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "2 shards of 0.0502, 0.000744 MB; note: the largest has 2.0 times the mean"),
             outcome.out);
  BOOST_TEST(!fs::exists(folder / "r/events.bin"));
  for (const char* log : {"events-0.bin", "events-1.bin"}) BOOST_TEST(is_whole(folder / "r" / log));
}

BOOST_AUTO_TEST_CASE(a_replay_gives_the_same_bits_and_all_gaps) {
  const TemporaryFolder folder;
  for (const std::string how : {"--rule dana-zero --workers 3 --shards 3", "--rule ssgd --workers 2",
                                "--rule dc-asgd-a --workers 2 --gate ssp:bound=1 --threads-per-worker 2"}) {
    BOOST_TEST_CONTEXT(how) {
      BOOST_REQUIRE(run_in(folder, kThreads + how + " --out r").status == 0);
      const Outcome again = run_in(folder, "replay r");
      BOOST_TEST(again.status == 0);
      BOOST_TEST(contains(again.out, "the same: 32 updates on "), again.out);
      BOOST_TEST(run_in(folder, "replay r --out again --pool-threads 1").status == 0);
      BOOST_TEST(summary(folder / "again").at("engine") == "replay");
      BOOST_TEST(text_of(folder / "again/metrics.csv") == text_of(folder / "r/metrics.csv"));
      const auto config = nlohmann::json::parse(text_of(folder / "again/config.json"));
      BOOST_TEST(config["replay_of"]["run"] == "r");
      BOOST_TEST(run_in(folder, "replay again").status == 0);
      fs::remove_all(folder / "r");
      fs::remove_all(folder / "again");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_simulated_run_is_replayed_too) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(
      run_in(folder, "train --rule dana-zero --workers 4 --clock heterogeneous --lr 0.005 --out r" + kQuick).status ==
      0);
  BOOST_TEST(run_in(folder, "replay r --out again").status == 0);
  for (const char* file : {"metrics.csv", "workers.csv"})
    BOOST_TEST(text_of(folder / "again" / file) == text_of(folder / "r" / file));
  BOOST_TEST(summary(folder / "again").at("virtual_time") == summary(folder / "r").at("virtual_time"));
  // The hash of the job is that of the same options, the events are the same: so is the whole file.
  BOOST_TEST((text_of(folder / "again/events.bin") == text_of(folder / "r/events.bin")));
}

BOOST_AUTO_TEST_CASE(another_rule_on_the_same_arrivals) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kThreads + "--rule asgd --workers 3 --shards 2 --out r").status == 0);
  const Outcome same = run_in(folder, "replay r --rule dc-asgd-c:lambda=0 --out same");
  BOOST_TEST(same.status == 0);
  BOOST_TEST(contains(same.out, "dc-asgd-c:lambda=0 instead of asgd, on the same 32 arrivals"), same.out);
  BOOST_TEST(text_of(folder / "same/metrics.csv") == text_of(folder / "r/metrics.csv"));  // an identity
  const Outcome other = run_in(folder, "replay r --rule dana-zero --out other");
  BOOST_TEST(other.status == 0);
  BOOST_TEST(text_of(folder / "other/metrics.csv") != text_of(folder / "r/metrics.csv"));
  BOOST_TEST(summary(folder / "other").at("learning_rate") == "0.005");
  BOOST_TEST(summary(folder / "other").at("momentum") == "0.9");
  BOOST_TEST(summary(folder / "other").at("mean_lag") == summary(folder / "r").at("mean_lag"));
  BOOST_TEST(run_in(folder, "replay other").status == 0);

  BOOST_TEST(contains(run_in(folder, "replay r --rule ssgd").err, "the messages of r came in no rounds"));
  BOOST_TEST(contains(run_in(folder, "replay r --rule sgd").err, "it is sequential, and the run had 3 workers"));
}

BOOST_AUTO_TEST_CASE(a_difference_is_named_and_ends_with_status_1) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, kThreads + "--rule asgd --workers 2 --out r").status == 0);
  // Another version's bits: the run's 20th loss is moved by one unit in the last place.
  const tg::EventLog log = tg::read_event_log(folder / "r/events.bin");
  fs::remove(folder / "r/events.bin");
  {
    tg::EventLogWriter writer(folder / "r/events.bin", log.header);
    for (tg::Event event : log.events) {
      if (event.kind == tg::Event::Kind::arrive && event.version == 20) event.loss = std::nextafter(event.loss, 10.0);
      writer.append(event);
    }
  }
  const Outcome outcome = run_in(folder, "replay r");
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.out, "update 19 differs: worker "), outcome.out);

  std::string config = text_of(folder / "r/config.json");
  config.replace(config.find("\"onednn\""), 8, "\"other\" ");
  tg::write_file(folder / "r/config.json", config);
  BOOST_TEST(contains(run_in(folder, "replay r").out, "since the run was made:\n  onednn was null, is {"));
}

BOOST_AUTO_TEST_CASE(a_killed_run_is_replayed_as_far_as_its_events_go) {
  const TemporaryFolder folder;
  const pid_t process = start_in(folder,
                                 "train --engine threads --workers 2 --shards 2 --lr 0.001 --epochs 100000 "
                                 "--evaluate-every 0.5 --out r" +
                                     kQuick);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto lines = [&] {
    const std::string text = fs::exists(folder / "r/metrics.csv") ? text_of(folder / "r/metrics.csv") : "";
    return std::count(text.begin(), text.end(), '\n');
  };
  while (lines() < 3 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  BOOST_REQUIRE_EQUAL(::kill(process, SIGKILL), 0);
  BOOST_TEST(wait_for(process) == 128 + SIGKILL);
  const Outcome outcome = run_in(folder, "replay r");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "the same as far as the events go: "), outcome.out);
}

BOOST_AUTO_TEST_CASE(a_run_that_is_interrupted_is_replayed_whole) {
  const TemporaryFolder folder;
  const pid_t process = start_in(folder,
                                 "train --engine threads --workers 2 --shards 2 --lr 0.001 --epochs 100000 "
                                 "--evaluate-every 0.5 --out r" +
                                     kQuick);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!fs::exists(folder / "r/metrics.csv") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  BOOST_REQUIRE_EQUAL(::kill(process, SIGINT), 0);
  BOOST_TEST(wait_for(process) == 130);
  BOOST_TEST(summary(folder / "r").at("status") == "stopped");
  const Outcome outcome = run_in(folder, "replay r");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "the same: "), outcome.out);
}

// oneDNN leaves out, without a word, what a thread that does not come was to do.
BOOST_AUTO_TEST_CASE(an_environment_that_keeps_threads_away_spoils_no_gradient) {
  const TemporaryFolder folder;
  const std::string simulated = "train --threads-per-worker 4" + kQuick + "--out ";
  BOOST_REQUIRE(run_in(folder, simulated + "usual").status == 0);
  BOOST_TEST(run_in(folder, simulated + "dynamic", "OMP_DYNAMIC=true").status == 0);
  BOOST_TEST(text_of(folder / "dynamic/metrics.csv") == text_of(folder / "usual/metrics.csv"));
  const Outcome few = run_in(folder, kThreads + "--threads-per-worker 4", "OMP_THREAD_LIMIT=2");
  BOOST_TEST(few.status == 1);
  BOOST_TEST(contains(few.err, "4 threads are to share the work, but OMP_THREAD_LIMIT lets 2 come"), few.err);
  const Outcome none = run_in(folder, simulated + "none", "OMP_MAX_ACTIVE_LEVELS=0");
  BOOST_TEST(none.status == 1);
  BOOST_TEST(contains(none.err, "OMP_MAX_ACTIVE_LEVELS=0 lets none come"), none.err);
  BOOST_TEST(run_in(folder, kThreads + "--out one", "OMP_THREAD_LIMIT=1").status == 0);
}

BOOST_AUTO_TEST_CASE(hogwild_leaves_no_events_and_cannot_be_replayed) {
  const TemporaryFolder folder;
  BOOST_TEST(run_in(folder, kThreads + "--hogwild --workers 2 --out r").status == 0);
  BOOST_TEST(!fs::exists(folder / "r/events.bin"));
  BOOST_TEST(contains(run_in(folder, "replay r").err, "r: a hogwild run has no order of events"));
}

BOOST_AUTO_TEST_CASE(both_engines_can_be_compared) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder,
                                 "compare --engine simulate threads --shards 2 --workers 2 --rule asgd ssgd "
                                 "--gate async --epochs 0.1 --out c" +
                                     kQuick);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "note: --shards 2 is for --engine threads, not simulate; left out here"));
  BOOST_TEST(contains(outcome.out, "note: --gate async: ssgd takes a step at the end of a round"));
  BOOST_TEST(read_csv(folder / "c/summary.csv").size() == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
