#pragma once
// Files that are either the old one or the whole new one, whatever happens in between; and files that are read.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
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

// Opens a file for reading its bytes. Throws Error, with the system's reason, if it cannot be opened, and for what is
// no regular file: a pipe would wait for ever, and a device may never end.
std::ifstream open_to_read(const std::filesystem::path& path);

// A file that others read while it grows: each append() reaches the system at once, at the end. Two processes never
// write to one: it is locked, where the file system can do that, for as long as this lives.
class GrowingFile {
 public:
  // A new file. Throws Error if it is there already.
  explicit GrowingFile(std::filesystem::path path);
  // Goes on with one that is there, after its first `bytes` bytes, and cuts off what follows. Throws Error if it is
  // shorter, or somebody else writes to it.
  GrowingFile(std::filesystem::path path, int64_t bytes);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  void append(std::string_view text);
  void sync();  // to the disk
  int64_t bytes() const { return bytes_; }

 private:
  void lock();

  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t bytes_ = 0;  // so far
};

}  // namespace tg
