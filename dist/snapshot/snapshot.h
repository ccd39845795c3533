#pragma once
// Snapshot: the whole state of a run at one moment, as named arrays in memory. docs/snapshots.md lists the names.
//
// The arrays are copies: the run stands still only while they are made, and goes on while they are written to a file.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "framework/core/tensor.h"
#include "optim/state.h"

namespace tg {

inline constexpr const char* kSnapshotFormat = "tardygrad snapshot 1";

class Snapshot {
 public:
  // Says to which job the snapshot belongs.
  std::map<std::string, std::string> metadata;

  // Copies an array of `count` elements and `bytes` bytes. `type` is the name of the element type in safetensors
  // ("F32"). Throws Error if there is an array of this name.
  void add(const std::string& name, const char* type, const void* data, int64_t count, int64_t bytes);
  // Writes a safetensors file with a checksum. It is written under another name and renamed when it is complete and on
  // the disk. Throws Error with the system's reason.
  void write(const std::filesystem::path& path) const;

 private:
  struct Array {
    std::string type;
    int64_t count;
    Tensor bytes;
  };
  std::map<std::string, Array> arrays_;
};

// Writes arrays into a snapshot with a prefix: the writer for the part "shard0" stores "theta" as "shard0/theta".
class SnapshotWriter : public StateWriter {
 public:
  explicit SnapshotWriter(Snapshot& to, std::string prefix = "") : to_(to), prefix_(std::move(prefix)) {}
  SnapshotWriter part(const std::string& name) const { return SnapshotWriter(to_, prefix_ + name + "/"); }

  // `values` must lie on the host.
  void write(const std::string& name, View values) override;
  void write(const std::string& name, BasicSpan<const double> values) override;
  void write(const std::string& name, int64_t value) override;
  // Further types, which engines need and rules do not.
  void write_numbers(const std::string& name, std::span<const int64_t> values);
  void write_real(const std::string& name, double value);
  void write_text(const std::string& name, std::string_view text);

 private:
  Snapshot& to_;
  std::string prefix_;
};

}  // namespace tg
