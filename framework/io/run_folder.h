#pragma once
// The folder that a run's results go to. What was there before is never touched.

#include <filesystem>
#include <string>
#include <utility>

namespace tg {

class RunFolder {
 public:
  // Throws Error, and makes nothing, unless `path` can be a run's folder: not there yet or empty, below something that
  // may be written to.
  static void check(const std::filesystem::path& path);
  // Makes the folder and those above it.
  explicit RunFolder(std::filesystem::path path);
  // The folder of a run that is there. Throws Error if it is no folder.
  static RunFolder open(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  struct Opened {};
  RunFolder(std::filesystem::path path, Opened) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

// Makes the empty folder base/<date>-<time>-<name>, followed by -2, -3, ... if that is taken. Characters of `name` that
// shells or file systems treat specially become '_'.
std::filesystem::path fresh_run_path(const std::filesystem::path& base, const std::string& name);
std::string file_name_of(const std::string& name);

}  // namespace tg
