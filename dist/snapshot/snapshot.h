#pragma once
// Snapshot: all that a run is at one moment, as arrays by name, in memory. docs/snapshots.md lists the names.
//
// It is put together while the run stands still, and written to its file when the run goes on again.

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
  // About the whole: of which job it is, how far it has come.
  std::map<std::string, std::string> metadata;

  // Copies `count` elements of safetensors' type `type`, `bytes` in all. Throws Error if the name is taken.
  void add(const std::string& name, const char* type, const void* data, int64_t count, int64_t bytes);
  // As a safetensors file with a checksum, which takes its name only when it is whole. Throws Error with the system's
  // reason.
  void write(const std::filesystem::path& path) const;

 private:
  struct Array {
    std::string type;
    int64_t count;
    Tensor bytes;
  };
  std::map<std::string, Array> arrays_;
};

// Writes into a snapshot, below a name: the part "shard0" writes "theta" as "shard0/theta".
class SnapshotWriter : public StateWriter {
 public:
  explicit SnapshotWriter(Snapshot& to, std::string prefix = "") : to_(to), prefix_(std::move(prefix)) {}
  SnapshotWriter part(const std::string& name) const { return SnapshotWriter(to_, prefix_ + name + "/"); }

  // Of host memory.
  void write(const std::string& name, View values) override;
  void write(const std::string& name, BasicSpan<const double> values) override;
  void write(const std::string& name, int64_t value) override;
  // What engines need beside.
  void write_numbers(const std::string& name, std::span<const int64_t> values);
  void write_real(const std::string& name, double value);
  void write_text(const std::string& name, std::string_view text);

 private:
  Snapshot& to_;
  std::string prefix_;
};

}  // namespace tg
