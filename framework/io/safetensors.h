#pragma once
// safetensors: named arrays in one file, as other frameworks read and write them.
//
//   8 bytes  length n of the header, little-endian
//   n bytes  header, JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
//            "__metadata__": {"text": "text"}}; offsets count from the end of the header
//   the rest the arrays one after another, little-endian, row-major
//
// A file may end with an array "crc32" (U8, 4 bytes, little-endian): the CRC-32 of every byte before them. Others need
// not know that.
// Format: https://huggingface.co/docs/safetensors (the description of version 0.4).

#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "framework/core/tensor.h"

namespace tg {

struct StoredArray {
  std::string name;
  std::string type;  // "F32", "F64", "I64", "I32", "U8"; a file of others may have "F16", "BF16", "BOOL", ...
  std::vector<int64_t> shape;
  int64_t offset = 0;  // in the file
  int64_t bytes = 0;
};

// Reads arrays one by one; the file stays open. Nothing of the file is trusted: what it says must fit together and into
// its size before memory is taken for it.
class SafetensorsReader {
 public:
  // Throws Error, naming the file and what is wrong where, if this is no whole safetensors file.
  explicit SafetensorsReader(const std::filesystem::path& path);
  // The same from any stream that can seek; `name` is for the errors.
  SafetensorsReader(std::istream& stream, const std::string& name);
  SafetensorsReader(const SafetensorsReader&) = delete;  // stream_ may be its own file_
  SafetensorsReader& operator=(const SafetensorsReader&) = delete;

  // In the order of their offsets.
  const std::vector<StoredArray>& arrays() const { return arrays_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  bool has(const std::string& array) const { return places_.contains(array); }
  // Throws Error if there is no such array.
  const StoredArray& array(const std::string& name) const;

  // Fills `out`, which has the array's size. Throws Error if the file cannot be read.
  void read(const StoredArray& array, std::span<std::byte> out);
  // Throws Error unless the type is one of a tensor's.
  Tensor tensor(const std::string& array);
  // Throws Error unless the file ends with the right checksum.
  void require_checksum();

 private:
  void read_header();
  void read_at(int64_t offset, std::span<std::byte> out, const std::string& what);

  std::ifstream file_;
  std::istream& stream_;
  std::string name_;
  int64_t size_ = 0;
  std::vector<StoredArray> arrays_;
  std::map<std::string, size_t> places_;
  std::map<std::string, std::string> metadata_;
};

struct ArrayToStore {
  std::string name;
  std::string type;
  std::vector<int64_t> shape;
  const void* data;
};

// Writes a new file through an AtomicFile, the widest types first (so that each array is aligned), then by name. With
// `checksum` it ends with the array "crc32". Throws Error for a type without a size, a name twice or the file system's
// refusal.
void write_safetensors(const std::filesystem::path& path, std::vector<ArrayToStore> arrays,
                       const std::map<std::string, std::string>& metadata = {}, bool checksum = false);

// "F32" and so on.
std::string stored_type(DType type);

}  // namespace tg
