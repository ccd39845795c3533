#pragma once
// The idx format of MNIST (http://yann.lecun.com/exdb/mnist): big-endian dimensions, then the elements, row-major.
//
//   00 00 08 D   element type 08 (uint8) and the number of dimensions D
//   D times      one dimension, uint32
//   the rest     one byte per element
//
// Read plain or gzipped, whatever the file's name. No size in a file is trusted: memory grows with the bytes that are
// there.

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <vector>

namespace tg {

struct Idx {
  std::vector<int64_t> dims;
  std::vector<uint8_t> values;  // as many as the product of dims
};

// Reads an array of `rank` dimensions. Throws Error that names the file, what was expected and what was found, unless
// the file is exactly that. Element types other than uint8 are refused, and so are arrays of more than 4 GiB.
Idx read_idx(const std::filesystem::path& file, int rank);
// The same from any stream of bytes; `name` stands for it in errors.
Idx read_idx(std::istream& in, const std::string& name, int rank);

}  // namespace tg
