#pragma once
// Files that are either the old one or the whole new one, whatever happens in between.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace tg {

// A file that takes its name only when it is complete: bytes go to a temporary name in the same folder, and commit()
// brings them to the disk and renames. Without commit() nothing is left behind.
class AtomicFile {
 public:
  // Throws Error with the system's reason if nothing can be written there.
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t count);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

// The whole of `text` through an AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text);

// A new file that others read while it grows: each append() reaches the system at once, at the end. Throws Error if the
// file is there already.
class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void append(std::string_view text);
  void sync();  // to the disk

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace tg
