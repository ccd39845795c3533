// The files that a run goes on from: cut, damaged, another's, or made up.

#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "dist/history/event_log.h"
#include "dist/snapshot/folder.h"
#include "dist/snapshot/records.h"
#include "framework/io/file.h"
#include "framework/io/safetensors.h"
#include "tests/dist/snapshot_fake.h"

using namespace tg;
namespace fs = std::filesystem;

namespace {

// A small job, and its run until it was stopped.
struct Stopped {
  const fake::QuadraticTask task{5};
  const std::unique_ptr<Rule> rule;
  Job job;

  Stopped(const fs::path& path, const std::string& spec, const std::string& gate, int workers)
      : rule(fake::rule(spec)), job(fake::job(task, *rule, workers, 60)) {
    job.gate = fake::gate(gate);
    job.evaluate_every = 8;
    job.snapshot_every = 100;
    fake::Keeper heard(path);
    heard.stop_after = 20;
    simulate(job, {.pool_threads = 1}, heard);
  }
  History go_on(const std::string& bytes) const {
    std::istringstream stream(bytes);
    SnapshotFile file(stream, "made up");
    Job rest = job;
    rest.resume = &file;
    return fake::run(rest, {.pool_threads = 1});
  }
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

struct Point {
  int steps = 0;
  bool last = false;
  double x = 0;
  float y = 0;
  bool operator==(const Point&) const = default;
};
constexpr std::tuple kPointFields{Field("steps", &Point::steps), Field("last", &Point::last), Field("x", &Point::x),
                                  Field("y", &Point::y)};

}  // namespace

BOOST_AUTO_TEST_SUITE(snapshot_files)

BOOST_AUTO_TEST_CASE(what_was_written_is_read_and_nothing_else) {
  const TemporaryFolder folder;
  const std::vector<Point> points{{3, true, 0.1, 0.2f}, {-1, false, -0.0, std::numeric_limits<float>::infinity()}};
  Snapshot snapshot;
  snapshot.metadata["who"] = "me";
  SnapshotWriter all(snapshot), part = all.part("a").part("b");
  all.write("number", int64_t{7});
  part.write_text("text", "two\nlines");
  part.write_real("real", 0.1);
  write_records(part, "points", points, kPointFields);
  write_records(part, "none", std::vector<Point>{}, kPointFields);
  write_record(part, "one", points[0], kPointFields);
  BOOST_TEST(contains(error_of([&] { all.write("number", int64_t{8}); }), "'number' is written twice"));
  snapshot.write(folder / "s");

  SnapshotFile file(folder / "s");
  BOOST_TEST(file.metadata("who") == "me");
  BOOST_TEST(file.metadata("whose") == "");
  const SnapshotReader root(file, ""), from = file.part("a").part("b");
  BOOST_TEST(root.read("number") == 7);
  BOOST_TEST(from.read_text("text") == "two\nlines");
  BOOST_TEST(from.read_real("real") == 0.1);
  BOOST_TEST((read_records(from, "points", kPointFields) == points));
  BOOST_TEST(read_records(from, "none", kPointFields).empty());
  BOOST_TEST((read_record(from, "one", kPointFields) == points[0]));

  BOOST_TEST(contains(error_of([&] { from.read("number"); }), "it has no tensor \"a/b/number\""));
  BOOST_TEST(contains(error_of([&] { root.read_real("number"); }), "number is of type I64"));
  BOOST_TEST(contains(error_of([&] { root.read("number", 0, 6); }), "number is 7; it must lie between 0 and 6"));
  BOOST_TEST(contains(error_of([&] { read_record(from, "points", kPointFields); }), "points has 2 records"));
  float floats[3];
  BOOST_TEST(contains(error_of([&] { from.part("points").read("y", Span(floats, 3)); }), "y has 2 elements, 3"));
  constexpr std::tuple kOther{Field("x", &Point::x), Field("none/x", &Point::x)};
  BOOST_TEST(contains(error_of([&] { read_records(from, "points", kOther); }), "points/none/x"));
  // A number that the field cannot hold.
  constexpr std::tuple kBool{Field("steps", &Point::last)};
  BOOST_TEST(contains(error_of([&] { read_records(from, "points", kBool); }), "steps has 3 in place 0"));
}

BOOST_AUTO_TEST_CASE(a_file_of_another_format_is_refused) {
  const TemporaryFolder folder;
  write_safetensors(folder / "plain", {});
  write_safetensors(folder / "other", {}, {{"format", "pt"}}, true);
  BOOST_TEST(contains(error_of([&] { SnapshotFile(folder / "plain"); }), "does not end with a checksum"));
  BOOST_TEST(contains(error_of([&] { SnapshotFile(folder / "other"); }), "its format is 'pt'; this program reads"));
  BOOST_TEST(contains(error_of([&] { SnapshotFile(folder / "none"); }), "cannot be opened"));
}

BOOST_AUTO_TEST_CASE(cut_at_any_byte_or_with_any_byte_changed_it_is_refused) {
  const TemporaryFolder folder;
  const Stopped stopped(folder / "s", "asgd", "async", 1);
  const std::string whole = text_of(folder / "s");
  BOOST_TEST(stopped.go_on(whole).updates.size() == 60u);
  int accepted = 0;
  const auto try_bytes = [&](const std::string& bytes) {
    std::istringstream stream(bytes);
    if (error_of([&] { SnapshotFile(stream, "damaged"); }).empty()) ++accepted;
  };
  for (size_t cut = 0; cut < whole.size(); ++cut) try_bytes(whole.substr(0, cut));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    try_bytes(changed);
  }
  BOOST_TEST(accepted == 0);
  try_bytes(whole);
  BOOST_TEST(accepted == 1);
}

// With the right checksum: whoever made it up comes to an error, or to some run, and no further.
BOOST_AUTO_TEST_CASE(numbers_that_were_made_up_do_no_harm) {
  const TemporaryFolder folder;
  const Stopped stopped(folder / "s", "dana-zero", "ssp:bound=2", 2);
  const std::string whole = text_of(folder / "s");
  int refused = 0, runs = 0;
  const auto try_bytes = [&](std::string bytes) {
    const size_t content = bytes.size() - 4;
    const auto checksum = static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), content));
    std::memcpy(bytes.data() + content, &checksum, 4);
    ++runs;
    refused += !error_of([&] { stopped.go_on(bytes); }).empty();
  };
  const auto try_value = [&](int64_t offset, auto value) {
    std::string bytes = whole;
    std::memcpy(bytes.data() + offset, &value, sizeof(value));
    try_bytes(bytes);
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();
  SafetensorsReader file(folder / "s");
  for (const StoredArray& array : file.arrays()) {
    if (array.name == "crc32") continue;
    const int before = refused;
    std::string missing = whole;
    missing[missing.find('"' + array.name + '"') + 1] = '~';
    try_bytes(missing);
    BOOST_TEST(refused == before + 1, array.name);
    for (int64_t at = array.offset; at < array.offset + array.bytes; at += std::max<int64_t>(8, array.bytes - 8)) {
      if (array.type == "I64")
        for (const int64_t value : {int64_t{-1}, int64_t{1}, int64_t{7}, kMost, kLeast}) try_value(at, value);
      if (array.type == "F64")
        for (const double value : {-1.0, 1e300, std::nan("")}) try_value(at, value);
      if (array.type == "F32") try_value(at, std::nanf(""));
    }
  }
  BOOST_TEST(runs > 400);
  BOOST_TEST(refused > runs / 2);
}

BOOST_AUTO_TEST_CASE(the_last_two_are_kept) {
  const TemporaryFolder folder;
  const fs::path place = folder / "snapshots";
  Snapshot snapshot;
  SnapshotWriter(snapshot).write("n", int64_t{1});
  SnapshotKeeper keeper(folder.str(), -1);
  BOOST_TEST(list_snapshots(folder.str()).empty());
  using Names = std::vector<std::string>;
  keeper.keep(snapshot, 5);
  BOOST_TEST((names_in(place) == Names{"5.safetensors"}));
  keeper.keep(snapshot, 10);
  keeper.keep(snapshot, 15);
  BOOST_TEST((names_in(place) == Names{"10.safetensors", "15.safetensors"}));
  keeper.keep(snapshot, 15);  // once more, as at the end of a run
  BOOST_TEST((names_in(place) == Names{"10.safetensors", "15.safetensors"}));

  // A run that goes on from 10, because 15 is damaged; what a killed process left; and what is none of ours.
  write_file(place / "15.safetensors", "damaged");
  write_file(place / "20.safetensors.tmp-17-0", "unfinished");
  write_file(place / "notes.txt", "kept");
  write_file(place / "9a.safetensors", "kept");
  const std::vector<SnapshotPlace> found = list_snapshots(folder.str());
  BOOST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].number == 15);
  BOOST_TEST(found[1].number == 10);
  BOOST_TEST(found[1].path == place / "10.safetensors");
  SnapshotKeeper resumed(folder.str(), 10);
  resumed.keep(snapshot, 12);
  BOOST_TEST((names_in(place) == Names{"10.safetensors", "12.safetensors", "9a.safetensors", "notes.txt"}));
}

BOOST_AUTO_TEST_CASE(one_that_cannot_be_written_leaves_the_others) {
  const TemporaryFolder folder;
  Snapshot snapshot;
  SnapshotKeeper keeper(folder.str(), -1);
  keeper.keep(snapshot, 1);
  fs::create_directories(folder / "snapshots/2.safetensors/in the way");
  BOOST_TEST(contains(error_of([&] { keeper.keep(snapshot, 2); }), "2.safetensors"));
  BOOST_TEST((names_in(folder / "snapshots") == std::vector<std::string>{"1.safetensors", "2.safetensors"}));
}

BOOST_AUTO_TEST_CASE(a_log_that_is_gone_on_with_has_the_bytes_of_one_that_never_stopped) {
  const TemporaryFolder folder;
  const EventLogHeader header{.job_hash = 5};
  const auto event = [](int i) {
    return Event{.kind = i % 200 == 150 ? Event::Kind::evaluate : Event::Kind::join, .worker = i, .time = 0.5 * i};
  };
  {
    EventLogWriter whole(folder / "whole", header);
    for (int i = 0; i < 500; ++i) whole.append(event(i));
  }
  for (const int stop : {0, 1, 127, 128, 129, 150, 151, 400}) BOOST_TEST_CONTEXT(stop) {
      fs::remove(folder / "parts");
      EventLogWriter::Position at;
      {
        EventLogWriter parts(folder / "parts", header);
        for (int i = 0; i < stop; ++i) parts.append(event(i));
        at = parts.sync();
        for (int i = 0; i < 100; ++i) parts.append(event(7));
      }
      {
        EventLogWriter parts(folder / "parts", header, at);
        for (int i = stop; i < 500; ++i) parts.append(event(i));
      }
      BOOST_TEST((text_of(folder / "parts") == text_of(folder / "whole")));
    }
}

BOOST_AUTO_TEST_CASE(a_log_that_is_shorter_another_runs_or_being_written_is_left_alone) {
  const TemporaryFolder folder;
  const EventLogHeader header{.job_hash = 5};
  EventLogWriter::Position at;
  std::string begun;
  {
    EventLogWriter log(folder / "log", header);
    for (int i = 0; i < 300; ++i) log.append({.kind = Event::Kind::join});
    at = log.sync();
    begun = text_of(folder / "log");
    BOOST_TEST(contains(error_of([&] { EventLogWriter(folder / "log", header, at); }), "another process is writing"));
  }
  const auto error_at = [&](const EventLogHeader& whose, const EventLogWriter::Position& from) {
    return error_of([&] { EventLogWriter(folder / "log", whose, from); });
  };
  BOOST_TEST(contains(error_at({.job_hash = 6}, at), "it is the log of another run"));
  BOOST_TEST(contains(error_at(header, {at.bytes, at.events + 1, ""}), "257 events are expected"));
  BOOST_TEST(contains(error_at(header, {at.bytes - 1, at.events, ""}), "there are 128"));
  BOOST_TEST(contains(error_at(header, {1'000'000, at.events, ""}), "bytes"));
  BOOST_TEST(contains(error_at(header, {at.bytes, at.events, "x"}), "1 bytes are to follow"));
  BOOST_TEST(contains(error_at(header, {3, 0, ""}), "this is no event log"));
  BOOST_TEST(text_of(folder / "log").rfind(begun, 0) == 0u);
  BOOST_TEST(text_of(folder / "log").size() > begun.size());
}

BOOST_AUTO_TEST_SUITE_END()
