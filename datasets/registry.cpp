#include "datasets/registry.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "datasets/mnist.h"
#include "datasets/synthetic.h"
#include "framework/core/spec.h"

namespace tg {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemFolder = "/usr/share/datasets";
constexpr const char* kBuiltIn = "synthetic";
constexpr uint64_t kBuiltInSeed = 0;  // one data set for all runs: a run's seed is for what it does with the data

// A data set laid out like MNIST.
struct Known {
  std::string name, summary;
  std::string package;  // Debian's, or ""
  std::vector<std::string> class_names;
};

const std::vector<Known>& known_datasets() {
  static const std::vector<Known> known{
      {"fashion-mnist",
       "70,000 gray pictures of clothes, 28 x 28, 10 classes (Xiao, Rasul and Vollgraf 2017)",
       "dataset-fashion-mnist",
       {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"}},
      {"mnist",
       "70,000 gray pictures of digits, 28 x 28, 10 classes (LeCun, Cortes and Burges)",
       "",
       {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
  };
  return known;
}

template <class Names>
std::string joined(const Names& names) {
  std::string text;
  for (const auto& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

// MNIST and Fashion-MNIST have the same files: a folder named after one of them is not searched for the other.
bool belongs_to_another(const fs::path& folder, const Known& known) {
  const std::string last = (folder / "").parent_path().filename();
  return last != known.name && std::any_of(known_datasets().begin(), known_datasets().end(),
                                           [&](const Known& other) { return last == other.name; });
}

std::vector<fs::path> folders_for(const Known& known, const std::string& data_dir) {
  const char* environment = std::getenv("TARDYGRAD_DATA");
  std::vector<fs::path> folders;
  for (const std::string& root :
       {data_dir, std::string(environment != nullptr ? environment : ""), std::string(kSystemFolder)}) {
    if (root.empty()) continue;
    folders.push_back(fs::path(root) / known.name);
    if (!belongs_to_another(root, known)) folders.emplace_back(root);
  }
  return folders;
}

// "a, b, c and 7 more": enough to see what kind of folder it is.
std::string contents(const fs::path& folder) {
  constexpr size_t kShown = 8;
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    names.push_back(entry->path().filename().string());
  if (failed) return failed.message();
  if (names.empty()) return "nothing";
  std::sort(names.begin(), names.end());
  if (names.size() <= kShown) return joined(names);
  return joined(std::vector(names.begin(), names.begin() + kShown)) +
         fmt::format(" and {} more", names.size() - kShown);
}

struct Search {
  std::vector<SearchedPlace> places;
  MnistPaths files;
  bool found = false;
};

// Ends at the first folder that holds any of the files: an incomplete one is a mistake to report, not to pass over.
Search search(const Known& known, const std::string& data_dir) {
  Search result;
  for (const fs::path& folder : folders_for(known, data_dir)) {
    std::error_code unreadable;
    if (!fs::is_directory(folder, unreadable)) {
      result.places.push_back({folder, "no such folder"});
      continue;
    }
    result.files = find_mnist(folder);
    std::vector<std::string> missing;
    for (size_t i = 0; i < result.files.size(); ++i)
      if (result.files[i].empty()) missing.emplace_back(kMnistFiles[i]);
    const bool none = missing.size() == result.files.size();
    result.found = missing.empty();
    std::string state = "found";
    if (none) state = "none of the files; it holds " + contents(folder);
    if (!none && !result.found) state = "incomplete, without " + joined(missing) + "; it holds " + contents(folder);
    result.places.push_back({folder, state});
    if (!none) break;
  }
  return result;
}

[[noreturn]] void fail_not_found(const Known& known, const std::vector<SearchedPlace>& places) {
  std::string looked;
  for (const SearchedPlace& place : places) looked += fmt::format("  {}: {}\n", place.folder, place.state);
  const std::string install =
      known.package.empty() ? "" : fmt::format("run apt-get install --no-install-recommends {}, or ", known.package);
  fail(
      "data set {} not found. Looked in\n{}for {}; each may also be spelt with a dot (train-images.idx3-ubyte) and end "
      "in "
      ".gz.\nTo get it: {}put the four files into a folder and name that with --data-dir or TARDYGRAD_DATA.",
      known.name, looked, joined(kMnistFiles), install);
}

}  // namespace

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const Known& known : known_datasets()) names.push_back(known.name);
  names.emplace_back(kBuiltIn);
  return names;
}

Splits load_dataset(const std::string& name, const std::string& data_dir) {
  if (name == kBuiltIn) return synthetic_dataset(kBuiltInSeed);
  const auto& all = known_datasets();
  const auto known = std::find_if(all.begin(), all.end(), [&](const Known& k) { return k.name == name; });
  require(known != all.end(), "there is no data set {}{}", name, suggestion(name, dataset_names(), "Known: "));
  std::error_code unreadable;
  require(data_dir.empty() || fs::is_directory(data_dir, unreadable), "--data-dir {}: no such folder", data_dir);
  const Search result = search(*known, data_dir);
  if (!result.found) fail_not_found(*known, result.places);
  return load_mnist(result.files, known->name, known->class_names);
}

std::vector<DatasetStatus> find_datasets(const std::string& data_dir) {
  std::vector<DatasetStatus> all;
  for (const Known& known : known_datasets()) {
    Search result = search(known, data_dir);
    const std::string found = result.found ? result.places.back().folder : "";
    all.push_back({known.name, known.summary, found, std::move(result.places)});
  }
  all.push_back(
      {kBuiltIn, "5,120 made pictures, 28 x 28, 10 classes: for trying commands without data", "built in", {}});
  return all;
}

std::string found_dataset(const std::string& name, const std::string& data_dir) {
  for (const DatasetStatus& status : find_datasets(data_dir))
    if (status.name == name) return status.found;
  return "";
}

}  // namespace tg
