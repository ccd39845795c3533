#include "datasets/inflate.h"

#include <algorithm>

#include "framework/core/error.h"

namespace tg {
namespace {

constexpr std::size_t kPiece = 1 << 16;
constexpr int kGzipOnly = 16;  // added to zlib's window bits: the gzip format, with its CRC and length

}  // namespace

InflatingReader::InflatingReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)), piece_(kPiece) {
  refill();
  compressed_ = at_gzip_member();
  if (compressed_ && inflateInit2(&zlib_, MAX_WBITS + kGzipOnly) != Z_OK) fail("{}: no memory to decompress it", name_);
}

InflatingReader::~InflatingReader() {
  if (compressed_) inflateEnd(&zlib_);
}

int64_t InflatingReader::read(uint8_t* out, int64_t count) {
  return compressed_ ? read_gzip(out, count) : read_plain(out, count);
}

int64_t InflatingReader::read_plain(uint8_t* out, int64_t count) {
  int64_t done = 0;
  while (done < count && (zlib_.avail_in > 0 || refill())) {
    const int64_t n = std::min<int64_t>(count - done, zlib_.avail_in);
    std::copy_n(zlib_.next_in, n, out + done);
    zlib_.next_in += n;
    zlib_.avail_in -= static_cast<uInt>(n);
    done += n;
  }
  return done;
}

int64_t InflatingReader::read_gzip(uint8_t* out, int64_t count) {
  int64_t done = 0;
  while (done < count) {
    if (zlib_.avail_in == 0 && !refill()) {
      if (between_members_) break;
      fail("{}: the gzip stream is cut: it ends after {} decompressed bytes; fetch the file again", name_, inflated_);
    }
    if (between_members_) {  // a gzip file may be several streams in a row (RFC 1952, 2.2)
      require(at_gzip_member(), "{}: bytes that are not gzip follow the gzip stream of {} bytes", name_, inflated_);
      inflateReset(&zlib_);
      between_members_ = false;
    }
    const int64_t n = std::min<int64_t>(count - done, kPiece);
    zlib_.next_out = out + done;
    zlib_.avail_out = static_cast<uInt>(n);
    const int status = inflate(&zlib_, Z_NO_FLUSH);
    const int64_t made = n - zlib_.avail_out;
    done += made;
    inflated_ += made;
    between_members_ = status == Z_STREAM_END;
    require(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR,
            "{}: the gzip data is damaged after {} decompressed bytes ({}); fetch the file again", name_, inflated_,
            zlib_.msg != nullptr ? zlib_.msg : "unknown to zlib");
  }
  return done;
}

bool InflatingReader::refill() {
  in_.read(reinterpret_cast<char*>(piece_.data()), static_cast<std::streamsize>(piece_.size()));
  require(!in_.bad(), "{}: reading failed", name_);
  zlib_.next_in = piece_.data();
  zlib_.avail_in = static_cast<uInt>(in_.gcount());
  return zlib_.avail_in > 0;
}

// The two bytes may lie across two pieces only after a stream; then the first decides and inflate() checks the second.
bool InflatingReader::at_gzip_member() const {
  return zlib_.avail_in > 0 && zlib_.next_in[0] == 0x1f && (zlib_.avail_in == 1 || zlib_.next_in[1] == 0x8b);
}

}  // namespace tg
