#pragma once
// SnapshotFile: a snapshot on the disk, to go on from. Nothing of it is trusted: who reads a number checks it.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/io/safetensors.h"
#include "optim/state.h"

namespace tg {

class SnapshotReader;

// More than any count in a run can be: what is read is no larger, so that it may still be added to.
inline constexpr int64_t kMostCounted = int64_t{1} << 62;

class SnapshotFile {
 public:
  // Throws Error, naming the file and what is wrong with it, unless it is whole, with the right checksum, and of this
  // format.
  explicit SnapshotFile(const std::filesystem::path& path);
  // The same from any stream that can seek; `name` is for the errors.
  SnapshotFile(std::istream& stream, const std::string& name);

  const std::string& name() const { return name_; }
  // A text about the whole; empty where there is none.
  std::string metadata(const std::string& key) const;
  SnapshotReader part(const std::string& name);

 private:
  friend class SnapshotReader;
  void check();
  std::string name_;
  SafetensorsReader file_;
};

// Reads what SnapshotWriter wrote below the same name. Throws Error naming what is missing, or of another type or
// length.
class SnapshotReader : public StateReader {
 public:
  SnapshotReader(SnapshotFile& from, std::string prefix) : from_(from), prefix_(std::move(prefix)) {}
  SnapshotReader part(const std::string& name) const { return {from_, prefix_ + name + "/"}; }

  void read(const std::string& name, Span values) const override;
  void read(const std::string& name, BasicSpan<double> values) const override;
  int64_t read(const std::string& name) const override;
  // The same; throws Error unless it lies in [least, most].
  int64_t read(const std::string& name, int64_t least, int64_t most) const;
  double read_real(const std::string& name) const;
  // As long as they were written.
  std::vector<int64_t> read_numbers(const std::string& name) const;
  std::vector<float> read_floats(const std::string& name) const;
  std::vector<double> read_reals(const std::string& name) const;
  std::string read_text(const std::string& name) const;

  // Throws Error, naming the file and this part, unless `condition` holds of what was read.
  template <class... Args>
  void require_here(bool condition, fmt::format_string<Args...> format, Args&&... args) const {
    if (!condition) fail("{}: {}{}", from_.name(), prefix_, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  template <class T>
  void fill(const std::string& name, const char* type, BasicSpan<T> values) const;
  template <class T>
  std::vector<T> all(const std::string& name, const char* type) const;
  const StoredArray& array(const std::string& name, const char* type) const;

  SnapshotFile& from_;
  std::string prefix_;
};

}  // namespace tg
