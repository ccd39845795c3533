#include "framework/io/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "framework/core/error.h"

namespace tg {
namespace {

[[noreturn]] void fail_with_errno(const char* verb, const std::filesystem::path& path) {
  const int reason = errno;
  fail("{}: cannot {} it: {}", path.string(), verb, std::strerror(reason));
}

int open_new(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_with_errno("create", path);
  return descriptor;
}

void write_all(int descriptor, const char* bytes, std::size_t count, const std::filesystem::path& path) {
  while (count > 0) {
    const ssize_t written = ::write(descriptor, bytes, count);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_with_errno("write", path);
    }
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

// A rename is on the disk only when its folder is.
void sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_with_errno("open", folder);
  // Some file systems cannot do this for a folder, and say so with EINVAL.
  const bool failed = ::fsync(descriptor) != 0 && errno != EINVAL;
  ::close(descriptor);
  if (failed) fail_with_errno("sync", folder);
}

// Unique among the processes and the files of a process, so that two writers never share a temporary file.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<int> count{0};
  return path.string() + fmt::format(".tmp-{}-{}", ::getpid(), count++);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(temporary_name(path_)), descriptor_(open_new(temporary_)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, std::size_t count) {
  write_all(descriptor_, static_cast<const char*>(bytes), count, path_);
}

void AtomicFile::commit() {
  require(descriptor_ >= 0, "{}: committed twice", path_.string());
  if (::fsync(descriptor_) != 0) fail_with_errno("sync", path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with_errno("rename to", path_);
  ::close(std::exchange(descriptor_, -1));
  sync_folder_of(path_);
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::ifstream open_to_read(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  require(!std::filesystem::exists(status) || std::filesystem::is_regular_file(status), "{}: not a file",
          path.string());
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  return file;
}

GrowingFile::GrowingFile(std::filesystem::path path) : path_(std::move(path)), descriptor_(open_new(path_)) { lock(); }

GrowingFile::GrowingFile(std::filesystem::path path, int64_t bytes) : path_(std::move(path)), bytes_(bytes) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail_with_errno("open", path_);
  try {
    lock();
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) fail_with_errno("look at", path_);
    require(bytes >= 0 && status.st_size >= bytes, "{}: it has {} bytes; it had {} before: it was cut", path_.string(),
            status.st_size, bytes);
    if (::ftruncate(descriptor_, bytes) != 0) fail_with_errno("cut", path_);
    if (::lseek(descriptor_, bytes, SEEK_SET) < 0) fail_with_errno("go to the end of", path_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

GrowingFile::~GrowingFile() { ::close(descriptor_); }

void GrowingFile::lock() {
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  require(errno != EWOULDBLOCK, "{}: another process is writing to it", path_.string());
}

void GrowingFile::append(std::string_view text) {
  write_all(descriptor_, text.data(), text.size(), path_);
  bytes_ += std::ssize(text);
}

void GrowingFile::sync() {
  if (::fsync(descriptor_) != 0) fail_with_errno("sync", path_);
}

}  // namespace tg
