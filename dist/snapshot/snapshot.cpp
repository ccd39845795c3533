#include "dist/snapshot/snapshot.h"

#include <cstring>

#include "framework/io/safetensors.h"

namespace tg {
namespace {

template <class T>
void add_vector(Snapshot& to, const std::string& name, const char* type, BasicSpan<const T> values) {
  require(values.device.on_host(), "snapshot: '{}' lies on {}; copy it to the host first", name,
          name_of(values.device));
  to.add(name, type, values.data, values.size, values.size * static_cast<int64_t>(sizeof(T)));
}

}  // namespace

void Snapshot::add(const std::string& name, const char* type, const void* data, int64_t count, int64_t bytes) {
  const auto [place, is_new] = arrays_.emplace(name, Array{type, count, Tensor::empty({bytes}, DType::u8)});
  require(is_new, "snapshot: '{}' is written twice", name);
  if (bytes > 0) std::memcpy(place->second.bytes.raw_mutable(), data, static_cast<size_t>(bytes));
}

void Snapshot::write(const std::filesystem::path& path) const {
  std::map<std::string, std::string> marked = metadata;
  marked["format"] = kSnapshotFormat;
  std::vector<ArrayToStore> list;
  for (const auto& [name, array] : arrays_) list.push_back({name, array.type, {array.count}, array.bytes.raw()});
  write_safetensors(path, std::move(list), marked, true);
}

void SnapshotWriter::write(const std::string& name, View values) { add_vector(to_, prefix_ + name, "F32", values); }
void SnapshotWriter::write(const std::string& name, BasicSpan<const double> values) {
  add_vector(to_, prefix_ + name, "F64", values);
}
void SnapshotWriter::write(const std::string& name, int64_t value) { write_numbers(name, {&value, 1}); }
void SnapshotWriter::write_numbers(const std::string& name, std::span<const int64_t> values) {
  to_.add(prefix_ + name, "I64", values.data(), std::ssize(values), static_cast<int64_t>(values.size_bytes()));
}
void SnapshotWriter::write_real(const std::string& name, double value) {
  write(name, BasicSpan<const double>(&value, 1));
}
void SnapshotWriter::write_text(const std::string& name, std::string_view text) {
  to_.add(prefix_ + name, "U8", text.data(), std::ssize(text), std::ssize(text));
}

}  // namespace tg
