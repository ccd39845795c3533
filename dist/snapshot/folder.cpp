#include "dist/snapshot/folder.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "framework/core/from_text.h"

namespace tg {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kEnding = ".safetensors";
constexpr std::string_view kUnfinished = ".safetensors.tmp-";  // of an AtomicFile whose process was killed

fs::path folder_of(const fs::path& run_folder) { return run_folder / "snapshots"; }

// "300.safetensors" -> 300; nothing for any other name.
std::optional<int64_t> number_of_name(std::string_view name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  int64_t number = -1;
  if (!from_text(name, number) || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::vector<SnapshotPlace> list_snapshots(const fs::path& run_folder) {
  const fs::path folder = folder_of(run_folder);
  std::vector<SnapshotPlace> found;
  std::error_code error;
  if (!fs::exists(folder, error) && !error) return found;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (const auto number = number_of_name(entry->path().filename().string()))
      found.push_back({*number, entry->path()});
  require(!error, "{}: {}", folder.string(), error.message());
  std::sort(found.begin(), found.end(),
            [](const SnapshotPlace& a, const SnapshotPlace& b) { return a.number > b.number; });
  return found;
}

SnapshotKeeper::SnapshotKeeper(const fs::path& run_folder, int64_t from) : run_folder_(run_folder) {
  if (from >= 0) kept_.push_back(from);
}

void SnapshotKeeper::keep(const Snapshot& snapshot, int64_t number) {
  const fs::path folder = folder_of(run_folder_);
  std::error_code error;
  fs::create_directory(folder, error);  // not the run's own: that may have been moved away
  require(!error, "{}: cannot make this folder: {}", folder.string(), error.message());
  snapshot.write(folder / (std::to_string(number) + std::string(kEnding)));
  std::erase(kept_, number);
  kept_.push_back(number);
  if (kept_.size() > kSnapshotsKept) kept_.erase(kept_.begin());
  remove_others();
}

// A file that cannot be removed stays: it only takes space.
void SnapshotKeeper::remove_others() {
  std::error_code error;
  std::vector<fs::path> others;
  for (fs::directory_iterator entry(folder_of(run_folder_), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto number = number_of_name(name);
    const bool kept = number && std::find(kept_.begin(), kept_.end(), *number) != kept_.end();
    if ((number && !kept) || name.find(kUnfinished) != std::string::npos) others.push_back(entry->path());
  }
  for (const fs::path& other : others) fs::remove(other, error);
}

}  // namespace tg
