#include <boost/test/unit_test.hpp>

#include "tests/launch/program.h"

namespace fs = std::filesystem;

namespace {

struct Mistake {
  std::string arguments;
  std::vector<std::string> told;  // parts of the message
};

// Exit status 1, one message on standard error, nothing on standard output, nothing left behind.
void check(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    BOOST_TEST_CONTEXT("tardygrad " << mistake.arguments) {
      const TemporaryFolder folder;
      const Outcome outcome = run_in(folder, mistake.arguments);
      BOOST_TEST(outcome.status == 1);
      BOOST_TEST(outcome.out == "");
      BOOST_TEST(outcome.err.rfind("tardygrad", 0) == 0u);
      for (const std::string& part : mistake.told)
        BOOST_TEST(contains(outcome.err, part), part << " in " << outcome.err);
      BOOST_TEST(fs::is_empty(folder.str()));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mistakes)

BOOST_AUTO_TEST_CASE(a_misspelt_word_is_answered_with_the_nearest_right_one) {
  check({
      {"trian", {"did you mean train?"}},
      {"train --lrr 0.1", {"'--lrr'", "did you mean --lr?"}},
      {"train --worker=4", {"did you mean --workers?"}},
      {"compare --sed 1 2", {"did you mean --seed?"}},
      {"bench stepp", {"did you mean step?"}},
      {"info --jsn", {"did you mean --json?"}},
      {"train --rule dana_zero", {"did you mean dana-zero?"}},
      {"train --rule dc-asgd-a:lamda=1", {"did you mean lambda?"}},
      {"train --model lenett", {"did you mean lenet?"}},
      {"train --model mlp:hiden=3", {"did you mean hidden?"}},
      {"train --data fashion-mnsit", {"did you mean fashion-mnist?"}},
      {"train --engine simulator", {"did you mean simulate?"}},
      {"train --clock homogenous", {"did you mean homogeneous?"}},
      {"train --engine thread", {"did you mean threads?"}},
      {"train --gate asinc", {"did you mean async?"}},
      {"train --gate ssp:bond=1", {"did you mean bound?"}},
      {"train --engine threads --hogwild ture", {"did you mean true?"}},
      {"repaly", {"did you mean replay?"}},
      {"replay r --ruel asgd", {"did you mean --rule?"}},
  });
}

BOOST_AUTO_TEST_CASE(a_value_out_of_range_is_told_with_the_range) {
  check({
      {"train --lr -1", {"--lr", "'-1'", "from 0"}},
      {"train --lr nan", {"--lr", "'nan'"}},
      {"train --lr 0.1x", {"--lr", "'0.1x'"}},
      {"train --lr ''", {"--lr", "''"}},
      {"train --lr", {"--lr", "missing"}},
      {"train --lr 0.1 0.2", {"--lr has 2 values", "compare"}},
      {"train --lr 0.1 --lr 0.2", {"--lr has 2 values"}},
      {"train --epochs 0", {"--epochs", "above 0"}},
      {"train --epochs inf", {"--epochs"}},
      {"train --batch 0", {"--batch", "from 1"}},
      {"train --batch 2.5", {"--batch", "whole number"}},
      {"train --batch 99999999999999999999", {"--batch"}},
      {"train --data synthetic --batch 5000", {"5000", "4096"}},
      {"train --workers 0", {"--workers", "from 1"}},
      {"train --workers 1000000", {"--workers"}},
      {"train --momentum 1.5 --rule sgd", {"--momentum"}},
      {"train --momentum 1 --rule sgd", {"momentum=1", "0.9999"}},
      {"train --momentum 0.5 --rule asgd", {"asgd has no momentum", "dana-zero"}},
      {"train --momentum 0.5 --rule sgd:momentum=0.9", {"given twice"}},
      {"train --rule ssgd:backup=4 --workers 4", {"backup=4 of 4 workers", "at most 3"}},
      {"train --rule dc-ssgd:backup=9 --workers 4", {"backup=9 of 4 workers"}},
      {"train --rule asgd --gate bsp:backup=2 --workers 2", {"backup=2 of 2 workers", "at most 1"}},
      {"compare --rule asgd ssgd:backup=2 --workers 4 2", {"backup=2 of 2 workers"}},
      {"train --rule dana-dc:m=0.5", {"adaptive=true"}},
      {"train --seed -1", {"--seed"}},
      {"train --seed 18446744073709551616", {"--seed", "18446744073709551615"}},
      {"train --warmup -1", {"--warmup"}},
      {"train --drop-at 3,2", {"--drop-at", "grow"}},
      {"train --drop-at 1,", {"--drop-at"}},
      {"train --drop-factor 0", {"--drop-factor"}},
      {"train --evaluate-every 0", {"--evaluate-every"}},
      {"train --threads-per-worker 0", {"--threads-per-worker"}},
      {"train --pool-threads -2", {"--pool-threads"}},
      {"train --engine tcp", {"--engine tcp", "simulate"}},
      {"train --engine threads --shards 0", {"--shards", "from 1"}},
      {"train --engine threads --shards 5 --data synthetic --model mlp:hidden=16",
       {"--shards 5", "4 parameter tensors", "use 1 to 4"}},
      {"train --engine threads --cores 0-65535", {"--cores 0-65535", "there is no core", "it may use"}},
      {"train --engine threads --cores 0,0", {"--cores 0,0", "core 0 is there twice"}},
      {"train --engine threads --cores 3-1", {"--cores 3-1", "grows"}},
      {"train --engine threads --cores 0,", {"--cores"}},
      {"train --engine threads --cores -1", {"--cores"}},
      {"train --engine threads --cores x", {"--cores", "whole number"}},
      {"train --gate ssp:bound=-1", {"bound=-1"}},
      {"train --data-dir ''", {"--data-dir"}},
      {"train --data-dir /nonexistent", {"/nonexistent", "no such folder"}},
      {"train --rule asgd:weight-decay=2", {"weight-decay=2"}},
      {"train --data synthetic --model mlp:hidden=0", {"hidden=0"}},
      {"train more", {"'more' belongs to no option"}},
      {"bench", {"step"}},
      {"bench step --threads 0", {"--threads"}},
      {"bench server --rule asdg", {"did you mean asgd?"}},
      {"bench server --parameters 0", {"--parameters"}},
      {"bench step --device gpu", {"--device: gpu is none of cpu, plain"}},
      {"bench step --batch x", {"--batch"}},
      {"bench step --seconds -1", {"--seconds"}},
      {"bench step --model lenett", {"did you mean lenet?"}},
  });
}

BOOST_AUTO_TEST_CASE(an_empty_word_is_no_value_and_not_an_option_left_out) {
  for (const std::string words :
       {"train --out", "train --resume", "compare --out", "replay r --rule", "replay r --out", "replay r --data-dir",
        "replay r --pool-threads", "explain r --update 1 --parameter", "trace r --data-dir", "info --data-dir",
        "info --model", "bench server --rule", "bench server --parameters", "bench step --batch"})
    check({{words + " ''", {words.substr(words.rfind(' ') + 1) + ": ", "the empty word ''"}}});
  check({{"train --rule ''", {"''"}}, {"train --model ''", {"''"}}, {"train --gate ''", {"''"}}});
}

BOOST_AUTO_TEST_CASE(options_that_have_no_meaning_together_are_refused) {
  check({
      {"train --engine threads --workers 200 --threads-per-worker 1024",
       {"--workers 200 with --threads-per-worker 1024: 204800 threads", "4096", "use fewer"}},
      {"train --pool-threads 1024 --threads-per-worker 5", {"--pool-threads 1024", "5120 threads"}},
      {"train --shards 2", {"--shards 2 is for --engine threads, not simulate"}},
      {"train --cores 0", {"--cores 0 is for --engine threads"}},
      {"train --hogwild", {"--hogwild true is for --engine threads"}},
      {"train --engine threads --clock heterogeneous", {"--clock heterogeneous is for --engine simulate"}},
      {"train --engine threads --pool-threads 2", {"--pool-threads 2 is for --engine simulate"}},
      {"train --rule ssgd --gate async", {"--gate async", "ssgd", "use bsp"}},
      {"train --rule ssgd:backup=1 --gate bsp:backup=2", {"--gate bsp:backup=2", "leave out one"}},
      {"train --engine threads --hogwild --rule dana-zero", {"--hogwild", "asgd without locks, not dana-zero"}},
      {"train --engine threads --hogwild --gate bsp", {"--hogwild", "leave out --gate bsp"}},
      {"train --engine threads --hogwild --shards 2", {"--hogwild", "--shards have no use"}},
      {"replay", {"which run?"}},
      {"replay nothing", {"nothing/config.json", "No such file"}},
      {"replay a b", {"'b' belongs to no option"}},
  });
}

BOOST_AUTO_TEST_CASE(a_replay_starts_no_more_threads_than_a_run) {
  const TemporaryFolder folder;
  BOOST_REQUIRE(run_in(folder, "train --epochs 0.2 --threads-per-worker 5 --pool-threads 1 --out r" + kQuick).status ==
                0);
  for (const std::string command : {"replay r --out s", "compare --paired r --rules dana-zero --out s"}) {
    const Outcome outcome = run_in(folder, command + " --pool-threads 1024");
    BOOST_TEST(outcome.status == 1);
    BOOST_TEST(contains(outcome.err, "--pool-threads 1024 with --threads-per-worker 5: 5120 threads"), outcome.err);
    BOOST_TEST(!std::filesystem::exists(folder / "s"));
  }
}

BOOST_AUTO_TEST_CASE(no_run_overwrites_another_or_goes_where_it_cannot) {
  const TemporaryFolder folder;
  BOOST_TEST(run_in(folder, "train --epochs 0.1 --out r" + kQuick).status == 0);
  const std::string before = text_of(folder / "r/summary.csv");
  for (const std::string command : {"train", "compare"}) {
    const Outcome again = run_in(folder, command + " --epochs 0.2 --out r" + kQuick);
    BOOST_TEST(again.status == 1);
    BOOST_TEST(contains(again.err, "r is not empty"));
    BOOST_TEST(text_of(folder / "r/summary.csv") == before);
    for (const std::string out : {"r/summary.csv", "r/summary.csv/below", "/proc/run"}) {
      const Outcome outcome = run_in(folder, command + " --epochs 0.2 --out " + out + kQuick);
      BOOST_TEST(outcome.status == 1);
      BOOST_TEST(contains(outcome.err, out));
      BOOST_TEST(outcome.out == "");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
