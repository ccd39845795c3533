#pragma once
// SnapshotFile: reads a snapshot from the disk. The file may be damaged or forged: every number in it is checked before
// it is used.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/io/safetensors.h"
#include "optim/state.h"

namespace tg {

class SnapshotReader;

// The largest count that is accepted from a file. No run counts so far, and adding to it cannot overflow.
inline constexpr int64_t kMostCounted = int64_t{1} << 62;

class SnapshotFile {
 public:
  // Throws Error, naming the file and what is wrong, unless it is complete, its checksum is right and it has this
  // format.
  explicit SnapshotFile(const std::filesystem::path& path);
  // Reads from any stream that can seek; `name` is for error messages.
  SnapshotFile(std::istream& stream, const std::string& name);

  const std::string& name() const { return name_; }
  // The metadata's text for this key; empty if there is none.
  std::string metadata(const std::string& key) const;
  SnapshotReader part(const std::string& name);

 private:
  friend class SnapshotReader;
  void check();
  std::string name_;
  SafetensorsReader file_;
};

// Reads what a SnapshotWriter with the same prefix wrote. Throws Error, naming the file and the array, if an array is
// missing or has another type or length.
class SnapshotReader : public StateReader {
 public:
  SnapshotReader(SnapshotFile& from, std::string prefix) : from_(from), prefix_(std::move(prefix)) {}
  SnapshotReader part(const std::string& name) const { return {from_, prefix_ + name + "/"}; }

  void read(const std::string& name, Span values) const override;
  void read(const std::string& name, BasicSpan<double> values) const override;
  int64_t read(const std::string& name) const override;
  // Throws Error also if the number does not lie in [least, most].
  int64_t read(const std::string& name, int64_t least, int64_t most) const;
  double read_real(const std::string& name) const;
  // Vectors of any length.
  std::vector<int64_t> read_numbers(const std::string& name) const;
  std::vector<float> read_floats(const std::string& name) const;
  std::vector<double> read_reals(const std::string& name) const;
  std::string read_text(const std::string& name) const;

  // Throws Error, naming the file and the prefix, unless `condition` holds.
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
