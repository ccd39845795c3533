#include "dist/snapshot/snapshot_file.h"

#include "dist/snapshot/snapshot.h"

namespace tg {

SnapshotFile::SnapshotFile(const std::filesystem::path& path) : name_(path.string()), file_(path) { check(); }

SnapshotFile::SnapshotFile(std::istream& stream, const std::string& name) : name_(name), file_(stream, name) {
  check();
}

void SnapshotFile::check() {
  file_.require_checksum();
  const std::string format = metadata("format");
  require(format == kSnapshotFormat, "{}: its format is '{}'; this program reads '{}'", name_, format, kSnapshotFormat);
}

std::string SnapshotFile::metadata(const std::string& key) const {
  const auto found = file_.metadata().find(key);
  return found == file_.metadata().end() ? "" : found->second;
}

SnapshotReader SnapshotFile::part(const std::string& name) { return {*this, name + "/"}; }

const StoredArray& SnapshotReader::array(const std::string& name, const char* type) const {
  const StoredArray& found = from_.file_.array(prefix_ + name);
  require_here(found.type == type && found.shape.size() == 1,
               "{} is of type {} with {} axes; a vector of {} is expected", name, found.type, found.shape.size(), type);
  return found;
}

template <class T>
void SnapshotReader::fill(const std::string& name, const char* type, BasicSpan<T> values) const {
  const StoredArray& found = array(name, type);
  require_here(found.shape[0] == values.size, "{} has {} elements, {} are expected", name, found.shape[0], values.size);
  require_here(values.device.on_host(), "{} is wanted on {}; read it to the host first", name, name_of(values.device));
  from_.file_.read(found, {reinterpret_cast<std::byte*>(values.data), static_cast<size_t>(found.bytes)});
}

// The file has as many bytes as its header says, so this takes no more memory than the file is long.
template <class T>
std::vector<T> SnapshotReader::all(const std::string& name, const char* type) const {
  std::vector<T> values(static_cast<size_t>(array(name, type).shape[0]));
  fill(name, type, BasicSpan<T>(values.data(), std::ssize(values)));
  return values;
}

void SnapshotReader::read(const std::string& name, Span values) const { fill(name, "F32", values); }
void SnapshotReader::read(const std::string& name, BasicSpan<double> values) const { fill(name, "F64", values); }

int64_t SnapshotReader::read(const std::string& name) const {
  int64_t value = 0;
  fill(name, "I64", BasicSpan<int64_t>(&value, 1));
  require_here(value >= -kMostCounted && value <= kMostCounted, "{} is {}, which nothing is counted to", name, value);
  return value;
}

int64_t SnapshotReader::read(const std::string& name, int64_t least, int64_t most) const {
  const int64_t value = read(name);
  require_here(value >= least && value <= most, "{} is {}; it must lie between {} and {}", name, value, least, most);
  return value;
}

double SnapshotReader::read_real(const std::string& name) const {
  double value = 0;
  read(name, BasicSpan<double>(&value, 1));
  return value;
}

std::vector<int64_t> SnapshotReader::read_numbers(const std::string& name) const { return all<int64_t>(name, "I64"); }
std::vector<float> SnapshotReader::read_floats(const std::string& name) const { return all<float>(name, "F32"); }
std::vector<double> SnapshotReader::read_reals(const std::string& name) const { return all<double>(name, "F64"); }

std::string SnapshotReader::read_text(const std::string& name) const {
  const std::vector<char> text = all<char>(name, "U8");
  return {text.begin(), text.end()};
}

}  // namespace tg
