// Any bytes as an event log: events that a writer could have written, in memory that the file's size bounds, or
// tg::Error. Each input is read as it is and with its checksums set right, which chance would hardly find.

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "dist/history/event_log.h"
#include "framework/core/error.h"

namespace {

constexpr size_t kHeader = 36, kBlockHeader = 16, kRecord = 48, kMostInBlock = 128;

// Writes the checksum of bytes [begin, end) behind them.
void mend(std::string& bytes, size_t begin, size_t end) {
  if (end + 4 > bytes.size()) return;
  const auto sum = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(&bytes[begin]), end - begin));
  for (size_t i = 0; i < 4; ++i) bytes[end + i] = static_cast<char>(sum >> (8 * i));
}

// The file header's checksum and those of all blocks, of which each has as many events as its own byte says.
std::string mended(std::string bytes) {
  mend(bytes, 0, kHeader - 4);
  for (size_t at = kHeader; at + kBlockHeader <= bytes.size();) {
    const size_t count = static_cast<unsigned char>(bytes[at]) % kMostInBlock + 1;
    bytes[at] = static_cast<char>(count);
    mend(bytes, at, at + kBlockHeader - 4);
    mend(bytes, at + kBlockHeader, at + kBlockHeader + count * kRecord);
    at += kBlockHeader + count * kRecord + 4;
  }
  return bytes;
}

void read(const std::string& bytes) {
  std::istringstream file(bytes);
  try {
    const tg::EventLog log = tg::read_event_log(file, "fuzz");
    if (log.events.size() * kRecord > bytes.size() || log.unfinished_bytes < 0) std::abort();
    if (log.header.shard < 0 || log.header.shard >= log.header.shards) std::abort();
    for (const tg::Event& event : log.events)
      if (tg::name_of(event.kind) == std::string("?")) std::abort();
  } catch (const tg::Error&) {
    // refused, as it should be
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  read(mended(bytes));
  return 0;
}
