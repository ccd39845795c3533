#pragma once
// Bytes of a file as they were before gzip: a gzip stream is told by its content, and decompressed piece by piece.

#include <zlib.h>

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace tg {

class InflatingReader {
 public:
  // `in` must outlive the reader; `name` is the file's, for errors.
  InflatingReader(std::istream& in, std::string name);
  ~InflatingReader();
  InflatingReader(const InflatingReader&) = delete;
  InflatingReader& operator=(const InflatingReader&) = delete;

  // Writes up to `count` bytes and returns how many: fewer only at the end of the data. Throws Error where a gzip
  // stream is cut, is damaged (CRC and length are checked at its end) or is followed by other bytes.
  int64_t read(uint8_t* out, int64_t count);

 private:
  int64_t read_plain(uint8_t* out, int64_t count);
  int64_t read_gzip(uint8_t* out, int64_t count);
  bool refill();  // false at the end of the file
  bool at_gzip_member() const;

  std::istream& in_;
  std::string name_;
  std::vector<uint8_t> piece_;
  z_stream zlib_{};  // next_in and avail_in: what is left of the piece
  bool compressed_ = false;
  bool between_members_ = false;
  int64_t inflated_ = 0;
};

}  // namespace tg
