#include "framework/io/file.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <limits>

#include "framework/io/csv.h"
#include "framework/io/run_folder.h"
#include "tests/temporary_folder.h"

namespace fs = std::filesystem;
using namespace tg;

namespace {

int64_t entries(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.str()), fs::directory_iterator());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(only_files_are_read) {
  const TemporaryFolder folder;
  const auto error_at = [](const fs::path& path) { return error_of([&] { open_to_read(path); }); };
  write_file(folder / "a", "text");
  fs::create_symlink("a", folder / "link");
  std::string word;
  open_to_read(folder / "link") >> word;
  BOOST_TEST(word == "text");
  BOOST_REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const fs::path& path : {folder / "pipe", fs::path(folder.str()), fs::path("/dev/zero")})
    BOOST_TEST(error_at(path) == path.string() + ": not a file");
  BOOST_TEST(error_at(folder / "none") == (folder / "none").string() + ": cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(an_atomic_file_appears_whole_or_not_at_all) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "a");
    file.write("first ");
    file.write("second");
    BOOST_TEST(!fs::exists(folder / "a"));
    file.commit();
    BOOST_TEST(text_of(folder / "a") == "first second");
  }
  {
    AtomicFile file(folder / "a");
    file.write("never committed");
  }
  BOOST_TEST(text_of(folder / "a") == "first second");
  BOOST_TEST(entries(folder) == 1);
}

BOOST_AUTO_TEST_CASE(two_writers_of_one_name_do_not_mix) {
  const TemporaryFolder folder;
  AtomicFile one(folder / "a"), two(folder / "a");
  one.write("one");
  two.write("two");
  two.commit();
  one.commit();
  BOOST_TEST(text_of(folder / "a") == "one");
  BOOST_TEST(entries(folder) == 1);
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_named_with_the_reason) {
  const TemporaryFolder folder;
  const std::string message = error_of([&] { write_file(folder / "none/a", "text"); });
  BOOST_TEST(contains(message, (folder / "none/a").string()));
  BOOST_TEST(contains(message, "No such file or directory"));
  BOOST_TEST(contains(error_of([] { write_file("/dev/full/a", "text"); }), "Not a directory"));
}

BOOST_AUTO_TEST_CASE(a_growing_file_is_read_while_it_grows_and_replaces_none) {
  const TemporaryFolder folder;
  GrowingFile file(folder / "a");
  file.append("1,");
  BOOST_TEST(text_of(folder / "a") == "1,");
  file.append("2\n");
  file.sync();
  BOOST_TEST(text_of(folder / "a") == "1,2\n");
  BOOST_TEST(contains(error_of([&] { GrowingFile again(folder / "a"); }), "File exists"));
  BOOST_TEST(text_of(folder / "a") == "1,2\n");
}

BOOST_AUTO_TEST_CASE(a_growing_file_is_gone_on_with_where_it_was) {
  const TemporaryFolder folder;
  write_file(folder / "a", "kept|too late");
  {
    GrowingFile file(folder / "a", 5);
    BOOST_TEST(text_of(folder / "a") == "kept|");
    file.append("new");
    BOOST_TEST(file.bytes() == 8);
    // Nobody else writes meanwhile, or cuts.
    BOOST_TEST(contains(error_of([&] { GrowingFile other(folder / "a", 0); }), "another process is writing to it"));
  }
  BOOST_TEST(text_of(folder / "a") == "kept|new");
  BOOST_TEST(contains(error_of([&] { GrowingFile file(folder / "a", 9); }), "it has 8 bytes; it had 9 before"));
  BOOST_TEST(contains(error_of([&] { GrowingFile file(folder / "b", 0); }), "No such file"));
  BOOST_TEST(text_of(folder / "a") == "kept|new");
  GrowingFile fresh(folder / "c");
  BOOST_TEST(contains(error_of([&] { GrowingFile other(folder / "c", 0); }), "another process is writing to it"));
}

BOOST_AUTO_TEST_CASE(csv_quotes_what_would_break_a_line) {
  BOOST_TEST(csv_line({"a", "b c", ""}) == "a,b c,\n");
  BOOST_TEST(csv_line({"rule:a=1,b=2", "say \"so\"", "two\nlines"}) ==
             "\"rule:a=1,b=2\",\"say \"\"so\"\"\",\"two\nlines\"\n");
  BOOST_TEST(csv_number(0.1) == "0.1");
  BOOST_TEST(csv_number(1.0 / 3) == "0.3333333333333333");
  BOOST_TEST(csv_number(-std::numeric_limits<double>::quiet_NaN()) == "nan");
}

BOOST_AUTO_TEST_CASE(a_run_takes_a_folder_that_is_new_or_empty) {
  const TemporaryFolder folder;
  const RunFolder fresh(folder / "runs/first");
  BOOST_TEST(fs::is_directory(folder / "runs/first"));
  BOOST_TEST(fresh.file("a.csv") == folder / "runs/first/a.csv");
  RunFolder::check(folder / "runs/first");
  write_file(fresh.file("config.json"), "{}");
  BOOST_TEST(contains(error_of([&] { RunFolder again(folder / "runs/first"); }), "is not empty"));
  BOOST_TEST(contains(error_of([&] { RunFolder::check(fresh.file("config.json")); }), "is a file"));
  BOOST_TEST(contains(error_of([&] { RunFolder::check(fresh.file("config.json/below")); }), "config.json"));
  RunFolder::check(folder / "not/yet/there");
  BOOST_TEST(!fs::exists(folder / "not"));
  BOOST_TEST(text_of(fresh.file("config.json")) == "{}");
}

BOOST_AUTO_TEST_CASE(fresh_run_paths_differ) {
  const TemporaryFolder folder;
  const fs::path first = fresh_run_path(folder.str(), "dc-asgd-a:lambda=1,m=0");
  BOOST_TEST(contains(first.filename().string(), "dc-asgd-a_lambda=1_m=0"));
  const fs::path second = fresh_run_path(folder.str(), "dc-asgd-a:lambda=1,m=0");
  BOOST_TEST(second != first);
  BOOST_TEST((fs::is_empty(first) && fs::is_empty(second)));
  BOOST_TEST(file_name_of("../x y$(z)") == ".._x_y__z_");
}

BOOST_AUTO_TEST_SUITE_END()
