#include <boost/test/unit_test.hpp>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "dist/history/event_log.h"
#include "optim/registry.h"
#include "tests/launch/program.h"

namespace fs = std::filesystem;

namespace {

const std::string kSummaryHeader =
    "status,engine,rule,codec,model,workers,seed,epochs,learning_rate,momentum,test_error_percent,train_loss,mean_lag,"
    "max_lag,mean_gap,bytes_up,bytes_down,virtual_time,seconds,workers_lost,codec_down\n";
constexpr int kParameters = 784 * 16 + 16 + 16 * 10 + 10;  // of kQuick's model

bool is_picture(const fs::path& file) {
  const std::string text = text_of(file);
  return text.rfind("<?xml", 0) == 0 && contains(text, "</svg>") && contains(text, "<path");
}

// The single run below runs/.
fs::path default_folder(const TemporaryFolder& folder) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(folder / "runs")) found = entry.path();
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(train)

BOOST_AUTO_TEST_CASE(a_run_leaves_its_numbers_events_and_pictures) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_in(folder, "train --rule dana-zero --workers 4 --lr 0.02 --epochs 3 --seed 7 --out r" + kQuick);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.err == "");
  BOOST_TEST(contains(outcome.out, "epoch 3.00: test error"));
  BOOST_TEST(!contains(outcome.out, "\r"));  // no bar where there is no terminal
  BOOST_TEST(text_of(folder / "r/summary.csv").rfind(kSummaryHeader, 0) == 0u);

  const auto row = summary(folder / "r");
  BOOST_TEST(row.at("status") == "finished");
  BOOST_TEST(row.at("engine") == "simulate");
  BOOST_TEST(row.at("rule") == "dana-zero");
  BOOST_TEST(row.at("codec") == "none");
  BOOST_TEST(row.at("model") == "mlp:hidden=16");
  BOOST_TEST(row.at("workers") == "4");
  BOOST_TEST(row.at("seed") == "7");
  BOOST_TEST(row.at("epochs") == "3");
  BOOST_TEST(row.at("learning_rate") == "0.02");
  BOOST_TEST(row.at("momentum") == "0.9");
  BOOST_TEST(std::stod(row.at("test_error_percent")) < 60);  // 90 by guessing
  BOOST_TEST(std::stod(row.at("train_loss")) < 2);
  BOOST_TEST(std::abs(std::stod(row.at("mean_lag")) - 3) < 0.2);
  BOOST_TEST(std::stoi(row.at("max_lag")) >= 3);
  BOOST_TEST(std::stod(row.at("mean_gap")) > 0);
  BOOST_TEST(row.at("bytes_up") == std::to_string(96 * 4 * kParameters));
  BOOST_TEST(row.at("bytes_down") == std::to_string(96 * 4 * kParameters));
  BOOST_TEST(std::abs(std::stod(row.at("virtual_time")) / (96 * 128 / 4) - 1) < 0.1);

  const auto metrics = read_csv(folder / "r/metrics.csv");
  BOOST_TEST(metrics.size() == 4u);
  BOOST_TEST(metrics.back().at("gradients") == "96");
  BOOST_TEST(metrics.back().at("epoch") == "3");
  BOOST_TEST(metrics.back().at("test_error_percent") == row.at("test_error_percent"));
  BOOST_TEST(std::stod(metrics.back().at("train_loss")) < std::stod(metrics.front().at("train_loss")));

  const auto workers = read_csv(folder / "r/workers.csv");
  BOOST_TEST(workers.size() == 4u);
  int gradients = 0;
  for (const auto& worker : workers) gradients += std::stoi(worker.at("gradients"));
  BOOST_TEST(gradients == 96);

  const tg::EventLog events = tg::read_event_log(folder / "r/events.bin");
  BOOST_TEST(events.unfinished_bytes == 0);
  BOOST_TEST((events.events.back().kind == tg::Event::Kind::finish));
  BOOST_TEST(std::count_if(events.events.begin(), events.events.end(),
                           [](const tg::Event& event) { return event.kind == tg::Event::Kind::arrive; }) == 96);

  const auto config = nlohmann::json::parse(text_of(folder / "r/config.json"));
  BOOST_TEST(config["options"]["rule"] == "dana-zero");
  BOOST_TEST(config["options"]["learning_rate"] == 0.02);
  BOOST_TEST(config["options"]["seed"] == 7);
  BOOST_TEST(config["rule"]["momentum"] == "0.9");
  BOOST_TEST(config["parameters"] == kParameters);
  BOOST_TEST(config["gradients"] == 96);
  BOOST_TEST(config["machine"]["onednn"]["loaded"].get<std::string>().size() >= 5u);
  for (const char* picture : {"loss.svg", "error.svg", "lag.svg", "gap.svg"})
    BOOST_TEST(is_picture(folder / "r" / picture));
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_bytes_however_many_threads_help) {
  const TemporaryFolder folder;
  const std::string common = "train --rule dc-asgd-a --workers 4" + kQuick;
  BOOST_TEST(run_in(folder, common + "--out a --pool-threads 1").status == 0);
  BOOST_TEST(run_in(folder, common + "--out b --pool-threads 3").status == 0);
  BOOST_TEST(run_in(folder, common + "--out c --seed 2").status == 0);
  BOOST_TEST(results(folder / "a") == results(folder / "b"));
  BOOST_TEST((text_of(folder / "a/events.bin") == text_of(folder / "b/events.bin")));
  BOOST_TEST(results(folder / "a") != results(folder / "c"));
  BOOST_TEST((text_of(folder / "a/events.bin") != text_of(folder / "c/events.bin")));
}

BOOST_AUTO_TEST_CASE(every_option_changes_something) {
  const TemporaryFolder folder;
  const std::string common = "train --rule multi-asgd --workers 3 --epochs 0.5" + kQuick;
  BOOST_REQUIRE(run_in(folder, common + "--out base").status == 0);
  // Not summary.csv, which repeats most options.
  const auto metrics = [&](const std::string& run) { return text_of(folder / run / "metrics.csv"); };
  int number = 0;
  for (const std::string option :
       {"--rule dana-zero", "--workers 2", "--epochs 0.6", "--batch 64", "--lr 0.01", "--momentum 0.8", "--warmup 0.3",
        "--drop-at 0.1", "--drop-at 0.1 --drop-factor 0.5", "--clock heterogeneous", "--evaluate-every 0.1", "--seed 3",
        "--model mlp:hidden=8", "--gate bsp", "--gate ssp:bound=0"}) {
    // A later value replaces none: the option is taken out of the common ones.
    std::string arguments = common;
    const std::string flag = option.substr(0, option.find(' ') + 1);
    const std::size_t place = arguments.find(flag);
    if (place != std::string::npos) arguments.erase(place, arguments.find(' ', place + flag.size()) - place);
    const std::string out = "o" + std::to_string(number++);
    BOOST_TEST(run_in(folder, arguments + option + " --out " + out).status == 0);
    BOOST_TEST_CONTEXT(option) {
      BOOST_TEST(metrics(out) != metrics("base"));
      if (option == "--drop-at 0.1 --drop-factor 0.5") BOOST_TEST(metrics(out) != metrics("o7"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_sequential_rule_runs_with_one_worker_and_says_so) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "train --rule sgd --workers 8 --epochs 0.25 --out r" + kQuick);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "note: sgd is sequential: it runs with 1 worker, not 8"));
  BOOST_TEST(summary(folder / "r").at("workers") == "1");
  BOOST_TEST(summary(folder / "r").at("mean_lag") == "0");
}

BOOST_AUTO_TEST_CASE(defaults_suit_every_rule_and_runs_get_folders_of_their_own) {
  const TemporaryFolder folder;
  for (const tg::SpecInfo& info : tg::rule_infos()) {
    const std::string rule = info.name;
    BOOST_TEST_CONTEXT(rule) {
      BOOST_TEST(run_in(folder, "train --epochs 0.1 --workers 2 --rule " + rule + kQuick).status == 0);
      const auto row = summary(default_folder(folder));
      BOOST_TEST(row.at("rule") == rule);
      BOOST_TEST(row.at("status") == "finished");
      BOOST_TEST(std::abs(std::stod(row.at("learning_rate")) - 0.05 * (1 - std::stod(row.at("momentum")))) < 1e-12);
      fs::remove_all(folder / "runs");
    }
  }
  BOOST_TEST(run_in(folder, "train --epochs 0.1" + kQuick).status == 0);
  BOOST_TEST(run_in(folder, "train --epochs 0.1" + kQuick).status == 0);
  BOOST_TEST(std::distance(fs::directory_iterator(folder / "runs"), fs::directory_iterator()) == 2);
}

BOOST_AUTO_TEST_CASE(momentum_in_the_rule_or_beside_it_is_the_same) {
  const TemporaryFolder folder;
  BOOST_TEST(run_in(folder, "train --epochs 0.2 --rule sgd:momentum=0.5 --out a" + kQuick).status == 0);
  BOOST_TEST(run_in(folder, "train --epochs 0.2 --rule sgd --momentum 0.5 --out b" + kQuick).status == 0);
  BOOST_TEST(results(folder / "a") == results(folder / "b"));
  BOOST_TEST(summary(folder / "a").at("rule") == "sgd");
  BOOST_TEST(summary(folder / "a").at("momentum") == "0.5");
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_ends_the_run_with_its_place) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "train --lr 1e6 --workers 2 --epochs 2 --out r" + kQuick);
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(contains(outcome.out, "diverged at update "));
  BOOST_TEST(contains(outcome.out, "worker "));
  BOOST_TEST(contains(outcome.out, "; first not finite: "));
  const auto row = summary(folder / "r");
  BOOST_TEST(row.at("status") == "diverged");
  BOOST_TEST(row.at("test_error_percent") == "nan");
  BOOST_TEST(std::stod(row.at("epochs")) < 2);
  BOOST_TEST(tg::read_event_log(folder / "r/events.bin").unfinished_bytes == 0);
}

BOOST_AUTO_TEST_CASE(signals_end_a_run_cleanly_and_keep_what_is_done) {
  // Several times: a signal must not hit a thread in the middle of a product (interrupt.h).
  for (const auto& [signal, status] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGINT, 130),
                                       std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const TemporaryFolder folder;
    const pid_t process = start_in(folder, "train --epochs 100000 --evaluate-every 0.5 --workers 2 --out r" + kQuick);
    // metrics.csv is read while the run lives.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    const auto lines = [&] {
      const std::string text = fs::exists(folder / "r/metrics.csv") ? text_of(folder / "r/metrics.csv") : "";
      return std::count(text.begin(), text.end(), '\n');
    };
    while (lines() < 3 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    BOOST_REQUIRE_EQUAL(::kill(process, signal), 0);
    BOOST_TEST(wait_for(process) == status);
    const auto row = summary(folder / "r");
    BOOST_TEST(row.at("status") == "stopped");
    BOOST_TEST(std::stod(row.at("epochs")) > 0);
    BOOST_TEST(std::stod(row.at("test_error_percent")) <= 90.5);
    BOOST_TEST(read_csv(folder / "r/metrics.csv").size() >= 2u);
    BOOST_TEST(!tg::read_event_log(folder / "r/events.bin").events.empty());
    BOOST_TEST(is_picture(folder / "r/loss.svg"));
    BOOST_TEST(text_of(folder / "err") == "");
  }
}

BOOST_AUTO_TEST_CASE(a_reader_that_goes_away_does_not_end_the_run) {
  const TemporaryFolder folder;
  run_in(folder, "train --epochs 5 --out r" + kQuick + "| head -n 1");
  BOOST_TEST(summary(folder / "r").at("status") == "finished");
}

// A descriptor that is closed at the start would be given to the run's first file, and what is said would land in it.
BOOST_AUTO_TEST_CASE(closed_standard_descriptors_leave_the_files_alone) {
  const TemporaryFolder folder;
  const std::string arguments = "train --workers 2 --epochs 0.5" + kQuick;
  BOOST_TEST(run_in(folder, arguments + " --out usual").status == 0);
  run_in(folder, arguments + " --out closed <&- >&- 2>&-; true");
  for (const char* file : {"metrics.csv", "events.bin"})
    BOOST_TEST((text_of(folder / "closed" / file) == text_of(folder / "usual" / file)), file);
}

BOOST_AUTO_TEST_CASE(runs_that_start_together_have_folders_of_their_own) {
  const TemporaryFolder folder;
  const std::string one = program() + " train --epochs 0.1" + kQuick + " >/dev/null";
  run_in(folder, "--version; " + one + " & " + one + " & " + one + " & wait; true");
  int folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "runs"))
    folders += std::filesystem::exists(entry.path() / "summary.csv");
  BOOST_TEST(folders == 3);
}

BOOST_AUTO_TEST_CASE(what_cannot_fit_the_memory_is_refused_before_anything_is_made) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_in(folder, "train --data synthetic --epochs 0.1 --model mlp:hidden=1048576-1048576 --out r");
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "GB of memory"), outcome.err);
  BOOST_TEST(!std::filesystem::exists(folder / "r"));
}

BOOST_AUTO_TEST_CASE(without_a_folder_for_temporary_files_there_are_numbers_and_one_line_about_it) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "train --epochs 0.1 --out r" + kQuick, "TMPDIR=/no/such/folder");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "TMPDIR"), outcome.out);
  BOOST_TEST(std::filesystem::exists(folder / "r/summary.csv"));
}

BOOST_AUTO_TEST_CASE(without_gnuplot_there_are_numbers_and_one_line_about_it) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "train --epochs 0.2 --out r" + kQuick, "PATH=/nonexistent");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "no pictures: there is no gnuplot"));
  BOOST_TEST(summary(folder / "r").at("status") == "finished");
  BOOST_TEST(!fs::exists(folder / "r/loss.svg"));
}

// Something that keeps the last files from being written, while the run goes on.
BOOST_AUTO_TEST_CASE(a_run_whose_last_files_cannot_be_written_says_what_makes_them) {
  const TemporaryFolder folder;
  const Outcome full = run_in(folder, "train --epochs 20 --out r" + kQuick,
                              "{ (until mkdir r/workers.csv; do sleep 0.01; done) 2>/dev/null & } &&");
  BOOST_TEST(full.status == 1);
  BOOST_TEST(contains(full.err, "r/workers.csv: cannot rename to it"), full.err);
  BOOST_TEST(contains(full.err, "recorded: `tardygrad replay r --out NEW` makes all its files"), full.err);
  BOOST_TEST(run_in(folder, "replay r --out NEW").status == 0);
  BOOST_TEST(fs::exists(folder / "NEW/workers.csv"));

  const Outcome moved = run_in(folder, "train --epochs 20 --snapshot-every 100 --out a" + kQuick,
                               "{ (until [ -e a/config.json ]; do sleep 0.01; done; mv a b) & } &&");
  BOOST_TEST(moved.status == 1);
  BOOST_TEST(contains(moved.err, "a is not its folder any more"), moved.err);
  BOOST_TEST(!contains(moved.out, "--resume"), moved.out);
  BOOST_TEST(!fs::exists(folder / "a"));
  BOOST_TEST(run_in(folder, "replay b").status == 0);
}

BOOST_AUTO_TEST_SUITE_END()
