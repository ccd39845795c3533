#include "framework/io/run_folder.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <cctype>
#include <ctime>
#include <utility>

#include "framework/core/error.h"

namespace tg {
namespace fs = std::filesystem;

void RunFolder::check(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  require(!error || status.type() == fs::file_type::not_found, "{}: {}", path.string(), error.message());
  if (fs::exists(status)) {
    require(fs::is_directory(status), "{} is a file: a run needs a folder of its own, give another --out",
            path.string());
    const bool empty = fs::is_empty(path, error);
    require(!error, "{}: {}", path.string(), error.message());
    require(empty, "{} is not empty, and no run overwrites what is there: give another --out, or move it away first",
            path.string());
  }
  fs::path nearest = fs::absolute(path).lexically_normal();
  while (!fs::exists(nearest, error) && nearest.has_relative_path()) nearest = nearest.parent_path();
  require(fs::is_directory(nearest, error), "{}: {} is not a folder", path.string(), nearest.string());
  require(::access(nearest.c_str(), W_OK | X_OK) == 0, "{}: {} may not be written to: give another --out",
          path.string(), nearest.string());
}

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {
  check(path_);
  std::error_code error;
  fs::create_directories(path_, error);
  require(!error, "{}: cannot make this folder: {}", path_.string(), error.message());
}

RunFolder RunFolder::open(fs::path path) {
  std::error_code error;
  require(fs::is_directory(path, error), "{}: there is no such folder{}", path.string(),
          error ? ": " + error.message() : "");
  return {std::move(path), Opened{}};
}

fs::path fresh_run_path(const fs::path& base, const std::string& name) {
  const std::string first = fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), file_name_of(name));
  std::error_code error;
  fs::create_directories(base, error);
  require(!error, "{}: cannot make this folder: {}", base.string(), error.message());
  fs::path path = base / first;
  // Made at once, so that of several runs that start together each has its own.
  for (int i = 2; !fs::create_directory(path, error); ++i) {
    require(!error, "{}: cannot make this folder: {}", path.string(), error.message());
    path = base / fmt::format("{}-{}", first, i);
  }
  return path;
}

std::string file_name_of(const std::string& name) {
  std::string safe = name;
  for (char& c : safe) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.' && c != '=') c = '_';
  }
  return safe;
}

}  // namespace tg
