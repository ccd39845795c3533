#include "datasets/idx.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include "datasets/inflate.h"
#include "framework/core/error.h"
#include "framework/io/file.h"

namespace tg {
namespace {

constexpr uint64_t kMostValues = uint64_t{1} << 32;
constexpr int kUint8 = 0x08;

const char* type_name(int code) {
  switch (code) {
    case kUint8: return "uint8";
    case 0x09: return "int8";
    case 0x0b: return "int16";
    case 0x0c: return "int32";
    case 0x0d: return "float32";
    case 0x0e: return "float64";
  }
  return "unknown";
}

std::array<uint8_t, 4> read_word(InflatingReader& bytes, const std::string& name, int rank) {
  std::array<uint8_t, 4> word{};
  const int64_t n = bytes.read(word.data(), 4);
  require(n == 4, "{}: ends inside its header; expected an idx file with a header of {} bytes", name, 4 + 4 * rank);
  return word;
}

void check_magic(const std::array<uint8_t, 4>& magic, const std::string& name, int rank) {
  require(magic[0] == 0 && magic[1] == 0,
          "{}: not an idx file: expected it to start with 00 00 08 {:02x}, found {:02x} {:02x} {:02x} {:02x}", name,
          rank, magic[0], magic[1], magic[2], magic[3]);
  require(magic[2] == kUint8,
          "{}: expected elements of type 08 (uint8), found type {:02x} ({}), which is not supported", name, magic[2],
          type_name(magic[2]));
  require(magic[3] == rank, "{}: expected {} dimensions (pictures have 3, labels 1), found {}", name, rank, magic[3]);
}

}  // namespace

Idx read_idx(std::istream& in, const std::string& name, int rank) {
  InflatingReader bytes(in, name);
  check_magic(read_word(bytes, name, rank), name, rank);

  Idx idx;
  uint64_t count = 1;
  std::string shape;
  for (int axis = 0; axis < rank; ++axis) {
    const auto word = read_word(bytes, name, rank);
    const uint64_t dim = uint64_t{word[0]} << 24 | uint64_t{word[1]} << 16 | uint64_t{word[2]} << 8 | uint64_t{word[3]};
    idx.dims.push_back(static_cast<int64_t>(dim));
    shape += (axis == 0 ? "" : " x ") + std::to_string(dim);
    // Below 2^32 before, so below 2^64 after; larger products are held down, or a later one would overflow.
    count = std::min(count * dim, kMostValues + 1);
  }
  require(count <= kMostValues, "{}: its header says {} values, more than the 4 GiB that are read at most", name,
          shape);

  std::array<uint8_t, 1 << 16> piece;
  while (idx.values.size() < count) {
    const uint64_t want = std::min<uint64_t>(piece.size(), count - idx.values.size());
    const int64_t n = bytes.read(piece.data(), static_cast<int64_t>(want));
    require(n > 0, "{}: truncated: its header says {} = {} values, found {}", name, shape, count, idx.values.size());
    idx.values.insert(idx.values.end(), piece.begin(), piece.begin() + n);
  }
  // Also runs a gzip stream to its end, where its CRC is.
  require(bytes.read(piece.data(), 1) == 0, "{}: too long: its header says {} = {} values, and more bytes follow them",
          name, shape, count);
  return idx;
}

Idx read_idx(const std::filesystem::path& file, int rank) {
  std::error_code ignored;
  require(std::filesystem::exists(file, ignored), "{}: no such file", file.string());
  std::ifstream in = open_to_read(file);
  return read_idx(in, file.string(), rank);
}

}  // namespace tg
