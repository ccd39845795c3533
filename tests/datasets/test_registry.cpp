#include <array>
#include <optional>

#include "datasets/mnist.h"
#include "datasets/registry.h"
#include "tests/datasets/files.h"

BOOST_AUTO_TEST_SUITE(registry)

namespace {

// TARDYGRAD_DATA for the length of a test.
class Environment {
 public:
  explicit Environment(const std::string& value) {
    if (const char* before = std::getenv(kName)) before_ = before;
    setenv(kName, value.c_str(), 1);
  }
  ~Environment() {
    if (before_)
      setenv(kName, before_->c_str(), 1);
    else
      unsetenv(kName);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static constexpr const char* kName = "TARDYGRAD_DATA";
  std::optional<std::string> before_;
};

constexpr std::array<const char*, 4> kDotted{"train-images.idx3-ubyte", "train-labels.idx1-ubyte",
                                             "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"};

// Which of the four files, as bytes: `train` pictures of 2 x 3 for training and one for the test.
Bytes contents(size_t which, uint32_t train) {
  const uint32_t n = which < 2 ? train : 1;
  return which % 2 == 0 ? idx_bytes({n, 2, 3}, counting(n * 6)) : idx_bytes({n}, counting(n));
}

void write_mnist(const std::filesystem::path& folder, uint32_t train) {
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < 4; ++i) write_file(folder / tg::kMnistFiles[i], contents(i, train));
}

int64_t loaded_size(const std::string& name, const std::string& data_dir) {
  return tg::load_dataset(name, data_dir).train.size();
}

std::string load_error(const std::string& name, const std::string& data_dir) {
  return error_of([&] { tg::load_dataset(name, data_dir); });
}

void check_parts(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) BOOST_TEST(contains(error, part), part << " is not in: " << error);
}

}  // namespace

BOOST_AUTO_TEST_CASE(both_spellings_plain_and_gzipped) {
  const Environment none("");
  for (int choice = 0; choice < 4; ++choice) {
    const TemporaryFolder folder;
    for (size_t i = 0; i < 4; ++i) {
      // Each file is spelt another way, so each in every way over the choices.
      const auto way = (static_cast<size_t>(choice) + i) % 4;
      const std::string name = way % 2 == 0 ? tg::kMnistFiles[i] : kDotted[i];
      const Bytes plain = contents(i, 3);
      write_file(folder / (way < 2 ? name : name + ".gz"), way < 2 ? plain : gzip(plain));
    }
    const tg::Splits splits = tg::load_dataset("mnist", folder.str());
    BOOST_TEST(splits.train.size() == 3);
    BOOST_TEST(splits.test.size() == 1);
    BOOST_TEST(splits.train.height == 2);
    BOOST_TEST(splits.train.width == 3);
    BOOST_TEST(splits.train.channels == 1);
    BOOST_TEST(splits.train.classes() == 10);
    BOOST_TEST(splits.train.labels == (std::vector<int32_t>{0, 1, 2}), boost::test_tools::per_element());
    BOOST_TEST(splits.train.pixels == counting(18));
    BOOST_TEST(splits.test.mean == splits.train.mean);
  }
}

BOOST_AUTO_TEST_CASE(where_it_is_looked_for) {
  const TemporaryFolder given, from_environment;
  const Environment environment(from_environment.str());
  write_mnist(from_environment / "mnist", 4);
  BOOST_TEST(loaded_size("mnist", "") == 4);
  BOOST_TEST(loaded_size("mnist", given.str()) == 4);
  write_mnist(given.str(), 5);
  BOOST_TEST(loaded_size("mnist", given.str()) == 5);
  BOOST_TEST(loaded_size("mnist", "") == 4);
  write_mnist(given / "mnist", 6);
  BOOST_TEST(loaded_size("mnist", given.str()) == 6);
  BOOST_TEST(loaded_size("mnist", given.str() + "/") == 6);
  // The same file names, another data set.
  write_mnist(given / "fashion-mnist", 7);
  BOOST_TEST(loaded_size("fashion-mnist", given.str()) == 7);
  BOOST_TEST(loaded_size("fashion-mnist", given / "mnist") != 6);
  BOOST_TEST(loaded_size("mnist", (given / "fashion-mnist").string() + "/") == 4);
}

BOOST_AUTO_TEST_CASE(not_found) {
  const TemporaryFolder given, from_environment;
  const Environment environment(from_environment.str());
  write_file(given / "notes.txt", {1});
  write_file(given / "a.csv", {1});
  for (int i = 10; i < 30; ++i) write_file(from_environment / std::to_string(i), {1});
  const std::string error = load_error("mnist", given.str());
  check_parts(error,
              {"mnist not found", (given / "mnist").string() + ": no such folder",
               given.str() + ": none of the files; it holds a.csv, notes.txt\n",
               from_environment.str() + ": none of the files; it holds 10, 11, 12, 13, 14, 15, 16, 17 and 12 more\n",
               "/usr/share/datasets/mnist", "--data-dir", "TARDYGRAD_DATA", "train-images.idx3-ubyte", ".gz"});
  for (const char* file : tg::kMnistFiles) check_parts(error, {file});
}

BOOST_AUTO_TEST_CASE(the_package_is_named) {
  const TemporaryFolder given;
  write_mnist(given.str(), 3);
  std::filesystem::remove(given / "t10k-labels-idx1-ubyte");
  check_parts(load_error("fashion-mnist", given.str()), {"apt-get install", "dataset-fashion-mnist"});
  BOOST_TEST(!contains(load_error("mnist", given.str()), "apt-get"));  // Debian has none
}

BOOST_AUTO_TEST_CASE(some_files_missing) {
  const TemporaryFolder given, complete;
  const Environment environment(complete.str());
  write_mnist(complete.str(), 3);
  write_mnist(given.str(), 3);
  std::filesystem::remove(given / "t10k-labels-idx1-ubyte");
  std::filesystem::create_directory(given / "t10k-labels-idx1-ubyte.gz");  // a folder is no file
  check_parts(
      load_error("mnist", given.str()),
      {given.str() + ": incomplete, without t10k-labels-idx1-ubyte; it holds t10k-images-idx3-ubyte, t10k-labels"});
}

BOOST_AUTO_TEST_CASE(files_that_do_not_fit_each_other) {
  const TemporaryFolder given;
  const auto path = [&](size_t i) { return (given / tg::kMnistFiles[i]).string(); };
  write_mnist(given.str(), 3);
  write_file(path(2), idx_bytes({1, 3, 2}, counting(6)));
  check_parts(load_error("mnist", given.str()), {path(2) + ": pictures of 3 x 2", path(0) + " are 2 x 3"});
  write_file(path(2), idx_bytes({0, 2, 3}, {}));
  write_file(path(3), idx_bytes({0}, {}));
  check_parts(load_error("mnist", given.str()), {path(2) + ": expected at least one picture", "0 x 2 x 3"});
  write_mnist(given.str(), 3);
  write_file(path(0), idx_bytes({3, 0, 3}, {}));
  check_parts(load_error("mnist", given.str()), {path(0) + ": expected at least one picture", "3 x 0 x 3"});
  write_mnist(given.str(), 11);  // labels 0 to 10
  check_parts(load_error("mnist", given.str()), {path(1) + ": the label at index 10 is 10"});
}

BOOST_AUTO_TEST_CASE(wrong_names) {
  for (const char* wrong : {"fasion-mnist", "Fashion_MNIST", "fashion"})
    check_parts(load_error(wrong, ""), {std::string("there is no data set ") + wrong, "did you mean fashion-mnist?"});
  check_parts(load_error("qwertyuiop", ""), {"there is no data set qwertyuiop.", "fashion-mnist, mnist, synthetic"});
  check_parts(load_error("", ""), {"there is no data set"});
  const TemporaryFolder given;
  const std::string absent = given / "absent";
  BOOST_TEST(load_error("fashion-mnist", absent) == "--data-dir " + absent + ": no such folder");
}

BOOST_AUTO_TEST_CASE(every_name_has_a_status) {
  const TemporaryFolder given, from_environment;
  const Environment environment(from_environment.str());
  write_mnist(from_environment / "mnist", 3);
  const auto all = tg::find_datasets(given.str());
  BOOST_REQUIRE_EQUAL(all.size(), tg::dataset_names().size());
  for (size_t i = 0; i < all.size(); ++i) {
    BOOST_TEST(all[i].name == tg::dataset_names()[i]);
    BOOST_TEST(all[i].summary != "");
    BOOST_TEST(all[i].found.empty() == (load_error(all[i].name, given.str()) != ""));
    if (all[i].name != "mnist") continue;
    BOOST_TEST(all[i].found == (from_environment / "mnist").string());
    BOOST_REQUIRE_EQUAL(all[i].searched.size(), 3u);
    BOOST_TEST(all[i].searched[0].folder == (given / "mnist").string());
    BOOST_TEST(all[i].searched[0].state == "no such folder");
    BOOST_TEST(all[i].searched[1].state == "none of the files; it holds nothing");
    BOOST_TEST(all[i].searched[2].state == "found");
  }
  BOOST_TEST(tg::find_datasets(given / "absent").size() == all.size());
}

BOOST_AUTO_TEST_SUITE_END()
