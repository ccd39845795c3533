#pragma once
// What the tests of datasets/ share: files made on the spot, and errors as text.

#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

using Bytes = std::vector<uint8_t>;

// A file of tests/data/odd.
inline std::filesystem::path odd_file(const std::string& name) {
  const char* root = std::getenv("TARDYGRAD_SOURCE_ROOT");
  BOOST_REQUIRE_MESSAGE(root != nullptr,
                        "TARDYGRAD_SOURCE_ROOT must name the repository: run the tests with meson test");
  return std::filesystem::path(root) / "tests/data/odd" / name;
}

inline Bytes read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  BOOST_REQUIRE_MESSAGE(in.is_open(), file << " cannot be opened");
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

inline void write_file(const std::filesystem::path& file, const Bytes& bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  BOOST_REQUIRE(out.good());
}

// The bytes of an idx file of uint8.
inline Bytes idx_bytes(const std::vector<uint32_t>& dims, const Bytes& values) {
  Bytes bytes{0, 0, 8, static_cast<uint8_t>(dims.size())};
  for (const uint32_t dim : dims)
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<uint8_t>(dim >> shift));
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

inline Bytes gzip(const Bytes& bytes) {
  z_stream zlib{};
  BOOST_REQUIRE_EQUAL(deflateInit2(&zlib, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&zlib, bytes.size()));
  zlib.next_in = const_cast<uint8_t*>(bytes.data());
  zlib.avail_in = static_cast<uInt>(bytes.size());
  zlib.next_out = out.data();
  zlib.avail_out = static_cast<uInt>(out.size());
  BOOST_REQUIRE_EQUAL(deflate(&zlib, Z_FINISH), Z_STREAM_END);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}

// 0, 1, 2, ... modulo 251, which no power of two divides.
inline Bytes counting(size_t n) {
  Bytes bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<uint8_t>(i % 251);
  return bytes;
}

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
