#include "framework/io/safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/io/file.h"
#include "framework/io/little_endian.h"

namespace tg {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are read and written as they lie in memory");
constexpr int64_t kLengthBytes = 8, kChecksumBytes = 4;
constexpr int64_t kLongestHeader = 100'000'000;  // as the reference implementation has it
constexpr const char *kChecksum = "crc32", *kMetadata = "__metadata__";

// Bytes of an element; 0 for a type that the format does not know.
int64_t size_of_type(const std::string& type) {
  static const std::map<std::string, int64_t> sizes = {
      {"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4},  {"U32", 4},     {"F16", 2},    {"BF16", 2},
      {"I16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  const auto found = sizes.find(type);
  return found == sizes.end() ? 0 : found->second;
}

uint32_t checksum_of(uint32_t before, const void* bytes, size_t count) {
  return static_cast<uint32_t>(::crc32_z(before, static_cast<const Bytef*>(bytes), count));
}

// Elements of a shape, or -1 if it has a negative dimension or too many elements.
int64_t elements_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (dim < 0 || (dim > 0 && count > kMostElements / dim)) return -1;
    count *= dim;
  }
  return count;
}

// The header as JSON. A name may not stand there twice: readers would differ in which one they take.
nlohmann::json parse_header(const std::string& text, const std::string& file) {
  std::set<std::string> names;
  std::string twice;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  nlohmann::json header;
  try {
    header = nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the header is not JSON: {}", file, error.what());
  }
  require(header.is_object(), "{}: the header is JSON, but no object of names and arrays", file);
  require(twice.empty(), "{}: tensor \"{}\" is listed twice", file, twice);
  return header;
}

bool is_list_of_numbers(const nlohmann::json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const nlohmann::json& v) {
           return v.is_number_integer() && (!v.is_number_unsigned() || v.get<uint64_t>() <= INT64_MAX);
         });
}

// One entry of the header; its offset counts from the end of the header.
StoredArray parse_array(const std::string& name, const nlohmann::json& entry, const std::string& file) {
  require(entry.is_object() && entry.contains("dtype") && entry.contains("shape") && entry.contains("data_offsets"),
          "{}: tensor \"{}\" has not dtype, shape and data_offsets", file, name);
  const nlohmann::json &type = entry["dtype"], &shape = entry["shape"], &offsets = entry["data_offsets"];
  require(type.is_string() && size_of_type(type.get<std::string>()) > 0, "{}: tensor \"{}\" is of the unknown type {}",
          file, name, type.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  require(is_list_of_numbers(shape) && is_list_of_numbers(offsets) && offsets.size() == 2,
          "{}: tensor \"{}\": shape and data_offsets must be lists of whole numbers", file, name);
  StoredArray array{name, type.get<std::string>(), shape.get<std::vector<int64_t>>(), offsets[0].get<int64_t>(), 0};
  const int64_t count = elements_of(array.shape), end = offsets[1].get<int64_t>();
  require(count >= 0, "{}: tensor \"{}\" has an impossible shape", file, name);
  require(0 <= array.offset && array.offset <= end, "{}: tensor \"{}\" lies at {} to {}", file, name, array.offset,
          end);
  array.bytes = end - array.offset;
  require(array.bytes == count * size_of_type(array.type), "{}: tensor \"{}\" has {} elements of {} in {} bytes", file,
          name, count, array.type, array.bytes);
  return array;
}

int64_t size_of(std::istream& stream) {
  stream.seekg(0, std::ios::end);
  const auto size = static_cast<int64_t>(stream.tellg());
  stream.seekg(0);
  return stream ? size : -1;
}

std::string header_text(const std::vector<ArrayToStore>& arrays, const std::map<std::string, std::string>& metadata,
                        const std::filesystem::path& path) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  int64_t offset = 0;
  for (const ArrayToStore& array : arrays) {
    require(size_of_type(array.type) > 0 && elements_of(array.shape) >= 0, "{}: tensor \"{}\" cannot be stored as {}",
            path.string(), array.name, array.type);
    require(!header.contains(array.name), "{}: two tensors named \"{}\"", path.string(), array.name);
    const int64_t end = offset + elements_of(array.shape) * size_of_type(array.type);
    header[array.name] = {{"dtype", array.type}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // arrays start at a multiple of eight
  return text;
}

}  // namespace

SafetensorsReader::SafetensorsReader(const std::filesystem::path& path)
    : file_(open_to_read(path)), stream_(file_), name_(path.string()) {
  read_header();
}

SafetensorsReader::SafetensorsReader(std::istream& stream, const std::string& name) : stream_(stream), name_(name) {
  read_header();
}

void SafetensorsReader::read_header() {
  size_ = size_of(stream_);
  require(size_ >= kLengthBytes, "{}: {} bytes are no safetensors file", name_, size_);
  char length_bytes[kLengthBytes];
  read_at(0, std::as_writable_bytes(std::span(length_bytes)), "the header's length");
  const uint64_t length = from_little_endian<uint64_t>(length_bytes);
  require(length >= 2 && length <= kLongestHeader && length <= static_cast<uint64_t>(size_ - kLengthBytes),
          "{}: this is no safetensors file, or it was cut: a header of {} bytes in a file of {}", name_, length, size_);
  std::string text(length, '\0');
  read_at(kLengthBytes, std::as_writable_bytes(std::span(text)), "the header");
  const nlohmann::json header = parse_header(text, name_);

  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadata) {
      arrays_.push_back(parse_array(name, entry, name_));
      continue;
    }
    require(entry.is_object(), "{}: {} is no object of texts", name_, kMetadata);
    for (const auto& [key, value] : entry.items()) {
      require(value.is_string(), "{}: {} has a value that is no text", name_, kMetadata);
      metadata_[key] = value.get<std::string>();
    }
  }
  std::sort(arrays_.begin(), arrays_.end(), [](const StoredArray& a, const StoredArray& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  int64_t end = 0;
  for (size_t i = 0; i < arrays_.size(); ++i) {
    StoredArray& array = arrays_[i];
    require(array.offset == end, "{}: tensor \"{}\" starts at {}; the one before ends at {}", name_, array.name,
            array.offset, end);
    end += array.bytes;
    array.offset += kLengthBytes + static_cast<int64_t>(length);
    places_[array.name] = i;
  }
  const int64_t data = size_ - kLengthBytes - static_cast<int64_t>(length);
  require(end == data, "{}: its tensors have {} bytes, the file has {} for them{}", name_, end, data,
          end > data ? ": it was cut" : "");
}

void SafetensorsReader::read_at(int64_t offset, std::span<std::byte> out, const std::string& what) {
  stream_.clear();
  stream_.seekg(offset);
  stream_.read(reinterpret_cast<char*>(out.data()), std::ssize(out));
  require(stream_.gcount() == std::ssize(out), "{}: {} cannot be read at byte {}", name_, what, offset);
}

const StoredArray& SafetensorsReader::array(const std::string& name) const {
  const auto found = places_.find(name);
  require(found != places_.end(), "{}: it has no tensor \"{}\"", name_, name);
  return arrays_[found->second];
}

void SafetensorsReader::read(const StoredArray& array, std::span<std::byte> out) {
  require(std::ssize(out) == array.bytes, "{}: tensor \"{}\" has {} bytes, not {}", name_, array.name, array.bytes,
          out.size());
  read_at(array.offset, out, "tensor \"" + array.name + "\"");
}

Tensor SafetensorsReader::tensor(const std::string& name) {
  const StoredArray& from = array(name);
  for (const DType type : {DType::f32, DType::f64, DType::i32, DType::u8}) {
    if (stored_type(type) != from.type) continue;
    require(std::ssize(from.shape) <= kMaxRank, "{}: tensor \"{}\" has {} axes; a tensor has at most {}", name_, name,
            from.shape.size(), kMaxRank);
    Tensor to = Tensor::empty(Shape(from.shape), type);
    read(from, {static_cast<std::byte*>(to.raw_mutable()), static_cast<size_t>(from.bytes)});
    return to;
  }
  fail("{}: tensor \"{}\" is of type {}, which a tensor cannot be; it can be F32, F64, I32 or U8", name_, name,
       from.type);
}

void SafetensorsReader::require_checksum() {
  require(!arrays_.empty() && arrays_.back().name == kChecksum && arrays_.back().bytes == kChecksumBytes,
          "{}: it does not end with a checksum", name_);
  uint32_t checksum = 0;
  std::vector<std::byte> piece;
  for (int64_t at = 0; at < size_ - kChecksumBytes; at += std::ssize(piece)) {
    piece.resize(static_cast<size_t>(std::min<int64_t>(size_ - kChecksumBytes - at, 1 << 20)));
    read_at(at, piece, "it");
    checksum = checksum_of(checksum, piece.data(), piece.size());
  }
  char stored[kChecksumBytes];
  read_at(size_ - kChecksumBytes, std::as_writable_bytes(std::span(stored)), "the checksum");
  require(from_little_endian<uint32_t>(stored) == checksum, "{}: it is damaged: its checksum is wrong", name_);
}

void write_safetensors(const std::filesystem::path& path, std::vector<ArrayToStore> arrays,
                       const std::map<std::string, std::string>& metadata, bool checksum) {
  std::sort(arrays.begin(), arrays.end(), [](const ArrayToStore& a, const ArrayToStore& b) {
    return std::pair(-size_of_type(a.type), a.name) < std::pair(-size_of_type(b.type), b.name);
  });
  if (checksum) arrays.push_back({kChecksum, "U8", {kChecksumBytes}, nullptr});
  const std::string header = header_text(arrays, metadata, path);

  AtomicFile file(path);
  uint32_t sum = 0;
  const auto write = [&](const void* bytes, size_t count) {
    file.write(bytes, count);
    if (checksum) sum = checksum_of(sum, bytes, count);
  };
  std::string length;
  append_little_endian(length, static_cast<uint64_t>(header.size()));
  write(length.data(), length.size());
  write(header.data(), header.size());
  if (checksum) arrays.pop_back();
  for (const ArrayToStore& array : arrays)
    write(array.data, static_cast<size_t>(elements_of(array.shape) * size_of_type(array.type)));
  if (checksum) {
    std::string end;
    append_little_endian(end, sum);
    file.write(end);
  }
  file.commit();
}

std::string stored_type(DType type) {
  switch (type) {
    case DType::f32: return "F32";
    case DType::f64: return "F64";
    case DType::i32: return "I32";
    case DType::u8: break;
  }
  return "U8";
}

}  // namespace tg
