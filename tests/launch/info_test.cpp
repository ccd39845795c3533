#include <boost/test/unit_test.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "dist/launch/machine.h"
#include "optim/registry.h"
#include "tests/launch/program.h"

using nlohmann::json;

namespace {

std::set<std::string> names(const json& list) {
  std::set<std::string> all;
  for (const json& entry : list) all.insert(entry["name"].get<std::string>());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(info)

BOOST_AUTO_TEST_CASE(info_tells_versions_machine_data_and_names) {
  const TemporaryFolder folder;
  const Outcome text = run_in(folder, "info --data-dir .");
  BOOST_TEST(text.status == 0);
  for (const char* part : {"oneDNN", "libdnnl", "instruction set", "huge pages",
                           "looked in ./fashion-mnist: no such folder", "dc-asgd-a", "lambda=2", "lenet", "none"})
    BOOST_TEST(contains(text.out, part), part << " in " << text.out);

  const Outcome outcome = run_in(folder, "info --json --data-dir .");
  BOOST_TEST(outcome.status == 0);
  const json all = json::parse(outcome.out);
  BOOST_TEST(all["onednn"]["loaded"] == all["onednn"]["compiled_against"]);
  BOOST_TEST(std::filesystem::exists(all["onednn"]["path"].get<std::string>()));
  BOOST_TEST(all["cores"].size() >= 1u);
  BOOST_TEST(all["openmp_threads"].get<int>() >= 1);
  BOOST_TEST(names(all["rules"]).count("dana-zero") == 1u);
  BOOST_TEST(names(all["models"]).count("lenet") == 1u);
  BOOST_TEST(names(all["codecs"]).count("none") == 1u);
  BOOST_TEST(names(all["data"]).count("synthetic") == 1u);
  for (const json& data : all["data"]) {
    if (data["name"] == "mnist") BOOST_TEST(data["searched"].size() >= 2u);
  }
}

BOOST_AUTO_TEST_CASE(info_starts_at_once) {
  // It takes about 0.02 s; a machine that is busy with other tests needs room. Loading data or a slow library shows.
  const TemporaryFolder folder;
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run_in(folder, "info");
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
#if defined(__SANITIZE_ADDRESS__)
  BOOST_TEST(best < 1.5);
#else
  BOOST_TEST(best < 0.15);
#endif
}

BOOST_AUTO_TEST_CASE(bench_step_prints_one_line) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "bench step --model mlp --batch 16 --threads 2 --seconds 0 --json");
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 1);
  const json line = json::parse(outcome.out);
  BOOST_TEST(line["model"] == "mlp");
  BOOST_TEST(line["batch"] == 16);
  BOOST_TEST(line["threads"] == 2);
  BOOST_TEST(line["steps"].get<int>() >= 7);
  const double ms = line["ms_per_step"];
  BOOST_TEST(ms > 0);
  BOOST_TEST(line["cpu_ms_per_step"].get<double>() > 0);
  BOOST_TEST(line["system_calls"] == 0);  // the pool serves every step after the first
  BOOST_TEST(line["pool_bytes"].get<int64_t>() > 0);
  BOOST_TEST(line["resident_bytes"].get<int64_t>() > line["pool_bytes"].get<int64_t>());
  BOOST_TEST(std::abs(line["samples_per_second"].get<double>() - 16e3 / ms) < 1e-6 * 16e3 / ms);

  const Outcome plain = run_in(folder, "bench step --model mlp --batch 16 --seconds 0");
  int threads = 0, steps = 0;
  double median = 0, p10 = 0, p90 = 0, least = 0, cpu = 0;
  BOOST_TEST(std::sscanf(plain.out.c_str(),
                         "RESULT bench=mlp impl=tardygrad threads=%d n=%d med_ms=%lf p10_ms=%lf p90_ms=%lf min_ms=%lf "
                         "cpu_ms=%lf",
                         &threads, &steps, &median, &p10, &p90, &least, &cpu) == 7);
  const Outcome by_loops = run_in(folder, "bench step --model mlp --batch 16 --device plain --trim --seconds 0 --json");
  BOOST_TEST(by_loops.status == 0, by_loops.err);
  BOOST_TEST(json::parse(by_loops.out)["device"] == "plain");
  BOOST_TEST((threads == 1 && least <= p10 && p10 <= median && median <= p90));
}

BOOST_AUTO_TEST_CASE(bench_step_of_sequences) {
  const TemporaryFolder folder;
  const Outcome lstm = run_in(folder, "bench step --model lstm --seconds 0 --json");
  BOOST_TEST(lstm.status == 0);
  BOOST_TEST(json::parse(lstm.out)["batch"] == 32);
  const Outcome by_ctc = run_in(folder, "bench step --model lstm-speech-small --batch 2 --seconds 0 --json");
  BOOST_TEST(by_ctc.status == 0);
  BOOST_TEST(json::parse(by_ctc.out)["batch"] == 2);
}

BOOST_AUTO_TEST_CASE(bench_server_measures_every_rule) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "bench server --parameters 4000 --threads 2 --seconds 0 --json");
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json line = json::parse(outcome.out);
  BOOST_TEST(line["parameters"] == 4000);
  BOOST_TEST(line["rules"].size() == tg::rule_infos().size());
  for (const json& rule : line["rules"]) {
    BOOST_TEST(rule["apply_ms"].get<double>() > 0);
    BOOST_TEST(rule["reply_share_of_ruler"].get<double>() > 0);
  }
  BOOST_TEST(line["nanoseconds_an_event"].get<double>() > 0);
  const Outcome one = run_in(folder, "bench server --rule dana-zero --parameters 4000 --seconds 0");
  BOOST_TEST(contains(one.out, "dana-zero"));
  BOOST_TEST(!contains(one.out, "ssgd"));
}

BOOST_AUTO_TEST_CASE(bench_codec_measures_every_codec) {
  const TemporaryFolder folder;
  const Outcome outcome = run_in(folder, "bench codec --parameters 51200 --seconds 0 --json");
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json line = json::parse(outcome.out);
  BOOST_TEST(line["codecs"].size() == tg::codec_infos().size() + 3);
  for (const json& codec : line["codecs"]) {
    BOOST_TEST(codec["encode_share_of_memcpy"].get<double>() > 0);
    BOOST_TEST(codec["decode_gb_per_s"].get<double>() > 0);
    BOOST_TEST((codec["break_even_gbit_per_s"].get<double>() > 0) == (codec["codec"] != "none"));
    if (codec["codec"] == "qsgd-4bit") BOOST_TEST(codec["bits_a_value"] == 4.0625);
  }
  const Outcome one = run_in(folder, "bench codec --codec qsgd-4bit:norm=l2 --parameters 5000 --seconds 0");
  BOOST_TEST(contains(one.out, "qsgd-4bit:norm=l2"), one.out);
  BOOST_TEST(!contains(one.out, "qsgd-8bit"));
  BOOST_TEST(contains(run_in(folder, "bench codec --codec qsdg").err, "did you mean qsgd?"));
}

BOOST_AUTO_TEST_CASE(help_and_version) {
  const TemporaryFolder folder;
  BOOST_TEST(run_in(folder, "--version").out.rfind("tardygrad 0.", 0) == 0u);
  for (const char* command : {"", "--help", "train --help", "compare --help"}) {
    const Outcome outcome = run_in(folder, command);
    BOOST_TEST(outcome.status == 0);
    BOOST_TEST(contains(outcome.out, "Examples:\n  tardygrad"));
  }
  BOOST_TEST(contains(run_in(folder, "--help").out, "Exit status"));
}

BOOST_AUTO_TEST_CASE(numbers_as_ranges) {
  BOOST_TEST(tg::ranges({}) == "");
  BOOST_TEST(tg::ranges({5}) == "5");
  BOOST_TEST(tg::ranges({0, 1, 2, 6, 8, 9}) == "0-2, 6, 8-9");
}

BOOST_AUTO_TEST_SUITE_END()
