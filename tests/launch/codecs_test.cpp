// Messages and replies in a few bits, as a user runs them.

#include <boost/test/unit_test.hpp>

#include "tests/launch/program.h"

namespace {

std::map<std::string, std::string> summary_of(const TemporaryFolder& folder, const std::string& run) {
  const auto rows = read_csv(folder / run / "summary.csv");
  BOOST_REQUIRE(rows.size() == 1);
  return rows.front();
}

int64_t bytes(const std::map<std::string, std::string>& row, const char* way) {
  return std::stoll(row.at(std::string("bytes_") + way));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codecs)

BOOST_AUTO_TEST_CASE(messages_in_four_bits_are_an_eighth_and_replay_the_same) {
  const TemporaryFolder folder;
  for (const std::string engine : {"simulate", "threads"}) {
    BOOST_TEST_CONTEXT(engine) {
      const std::string common = "train --workers 3 --rule dana-slim --lr 0.01 --engine " + engine + kQuick;
      BOOST_REQUIRE(run_in(folder, common + "--out plain-" + engine).status == 0);
      const Outcome quantised = run_in(folder, common + "--codec-up qsgd-4bit --out few-" + engine);
      BOOST_REQUIRE(quantised.status == 0);
      BOOST_TEST(quantised.out.find("up: qsgd") != std::string::npos);  // what stays float32 is listed
      const auto plain = summary_of(folder, "plain-" + engine), few = summary_of(folder, "few-" + engine);
      BOOST_TEST(few.at("codec") == "qsgd-4bit");
      BOOST_TEST(few.at("codec_down") == "none");
      BOOST_TEST(bytes(few, "up") * 7 < bytes(plain, "up"));
      BOOST_TEST(bytes(few, "down") == bytes(plain, "down"));
      BOOST_TEST(run_in(folder, "replay few-" + engine).out.find("the same") != std::string::npos);
      const Outcome other = run_in(folder, "replay few-" + engine + " --codec-up none");
      BOOST_TEST(other.status == 0);
      BOOST_TEST(other.out.find("dana-slim instead of dana-slim, up qsgd-4bit") != std::string::npos);
    }
  }
}

// The first reply is whole; later ones are differences.
BOOST_AUTO_TEST_CASE(replies_in_eight_bits_learn_as_well) {
  const TemporaryFolder folder;
  const std::string common = "train --workers 3 --rule asgd --lr 0.05 --epochs 3" + kQuick;
  BOOST_REQUIRE(run_in(folder, common + "--out plain").status == 0);
  BOOST_REQUIRE(run_in(folder, common + "--codec-down qsgd-8bit --out few").status == 0);
  const auto plain = summary_of(folder, "plain"), few = summary_of(folder, "few");
  BOOST_TEST(few.at("codec_down") == "qsgd-8bit");
  BOOST_TEST(bytes(few, "down") * 3 < bytes(plain, "down"));
  BOOST_TEST(bytes(few, "up") == bytes(plain, "up"));
  BOOST_TEST(std::stod(few.at("train_loss")) < 1.05 * std::stod(plain.at("train_loss")));
  BOOST_TEST(run_in(folder, "replay few").out.find("the same") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_run_with_codecs_goes_on_from_a_snapshot_bit_for_bit) {
  const TemporaryFolder folder;
  const std::string options =
      " --workers 3 --rule dc-asgd-a --codec-up qsgd-2bit --codec-down qsgd-8bit --snapshot-every 8";
  BOOST_REQUIRE(run_in(folder, "train --epochs 1 --out r" + options + kQuick).status == 0);
  BOOST_TEST(run_in(folder, "replay r").out.find("the same") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_does_not_go_together_is_refused) {
  const TemporaryFolder folder;
  const std::pair<const char*, const char*> mistakes[] = {
      {"--codec-up qsgd-3bit", "qsgd-2bit"},
      {"--codec-up qsgd:bits=9", "bits"},
      {"--rule easgd --codec-down qsgd-8bit", "works with what it sent"},
      {"--engine threads --hogwild --codec-up qsgd-4bit", "nothing is encoded"}};
  for (const auto& [options, reason] : mistakes) {
    BOOST_TEST_CONTEXT(options) {
      const Outcome outcome = run_in(folder, std::string("train --workers 2 --out r ") + options + kQuick);
      BOOST_TEST(outcome.status == 1);
      BOOST_TEST(outcome.err.find(reason) != std::string::npos, outcome.err);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
