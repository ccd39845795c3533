#include "dist/history/event_log.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <string_view>
#include <utility>

#include "framework/io/little_endian.h"

namespace tg {
namespace {

constexpr std::string_view kMagic = "tg-event";
constexpr uint32_t kVersion = 2;
constexpr int64_t kFileHeaderBytes = 36, kBlockHeaderBytes = 16, kRecordBytes = 48, kChecksumBytes = 4;
constexpr int64_t kBlockEvents = 128;  // at most

uint32_t crc32_of(std::string_view bytes) {
  return static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void append_checksum(std::string& bytes) { append_little_endian(bytes, crc32_of(bytes)); }

bool checksum_is_right(std::string_view bytes) {
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  return crc32_of(content) == from_little_endian<uint32_t>(bytes.data() + content.size());
}

std::string encode(const EventLogHeader& header) {
  std::string bytes(kMagic);
  append_little_endian(bytes, kVersion);
  append_little_endian(bytes, static_cast<uint32_t>(kRecordBytes));
  append_little_endian(bytes, header.job_hash);
  append_little_endian(bytes, static_cast<uint32_t>(header.shard));
  append_little_endian(bytes, static_cast<uint32_t>(header.shards));
  append_checksum(bytes);
  return bytes;
}

// What the last eight bytes of a record hold, by which a replay checks itself.
enum class Check { nothing, loss, theta };

Check check_of(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::arrive: return Check::loss;
    case Event::Kind::evaluate:
    case Event::Kind::finish:
    case Event::Kind::stop: return Check::theta;
    default: return Check::nothing;
  }
}

uint64_t check_bits(const Event& event) {
  switch (check_of(event.kind)) {
    case Check::loss: return std::bit_cast<uint64_t>(event.loss);
    case Check::theta: return event.theta_hash;
    case Check::nothing: break;
  }
  return 0;
}

void append_record(std::string& bytes, const Event& event) {
  append_little_endian(bytes, static_cast<uint8_t>(event.kind));
  append_little_endian(bytes, static_cast<uint8_t>(event.taken));
  append_little_endian(bytes, uint16_t{0});
  append_little_endian(bytes, static_cast<uint32_t>(event.worker));
  append_little_endian(bytes, static_cast<uint64_t>(event.batch));
  append_little_endian(bytes, static_cast<uint64_t>(event.version));
  append_little_endian(bytes, std::bit_cast<uint64_t>(event.time));
  append_little_endian(bytes, std::bit_cast<uint32_t>(event.learning_rate));
  append_little_endian(bytes, uint32_t{0});
  append_little_endian(bytes, check_bits(event));
}

// A stream that knows how far it has been read, for error messages.
class Source {
 public:
  Source(std::istream& stream, const std::string& name, int64_t most_bytes)
      : stream_(stream), name_(name), most_bytes_(most_bytes) {}

  // Up to `count` bytes, fewer only at the end of the file. Valid until the next call.
  std::string_view read(int64_t count) {
    start_ += static_cast<int64_t>(bytes_.size());
    count = std::min(count, most_bytes_ - start_);
    bytes_.resize(static_cast<size_t>(count));
    stream_.read(bytes_.data(), count);
    require(!stream_.bad(), "{}: cannot be read at byte {}", name_, start_);
    bytes_.resize(static_cast<size_t>(stream_.gcount()));
    return bytes_;
  }

  // Throws Error unless `condition` holds of the byte `offset` after the start of the last read().
  template <class... Args>
  void require_here(bool condition, int64_t offset, fmt::format_string<Args...> format, Args&&... args) const {
    if (condition) return;
    fail("{}: byte {}: {}", name_, start_ + offset, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::istream& stream_;
  const std::string& name_;
  const int64_t most_bytes_;
  std::string bytes_;
  int64_t start_ = 0;  // of bytes_ in the file
};

EventLogHeader read_header(Source& source) {
  const std::string_view bytes = source.read(kFileHeaderBytes);
  source.require_here(std::ssize(bytes) == kFileHeaderBytes && bytes.starts_with(kMagic), 0,
                      "this is no event log: it does not start with a header of {} bytes and \"{}\"", kFileHeaderBytes,
                      kMagic);
  const uint32_t version = from_little_endian<uint32_t>(bytes.data() + 8);
  source.require_here(version == kVersion, 8, "version {} of the format; this program reads version {}", version,
                      kVersion);
  source.require_here(checksum_is_right(bytes), 0, "the header is damaged: its checksum is wrong");
  const uint32_t record_bytes = from_little_endian<uint32_t>(bytes.data() + 12);
  source.require_here(record_bytes == kRecordBytes, 12, "records of {} bytes; they have {}", record_bytes,
                      kRecordBytes);
  const EventLogHeader header = {
      .job_hash = from_little_endian<uint64_t>(bytes.data() + 16),
      .shard = static_cast<int32_t>(from_little_endian<uint32_t>(bytes.data() + 24)),
      .shards = static_cast<int32_t>(from_little_endian<uint32_t>(bytes.data() + 28)),
  };
  source.require_here(header.shard >= 0 && header.shard < header.shards, 24, "shard {} of {}", header.shard,
                      header.shards);
  return header;
}

Event read_record(const Source& source, std::string_view bytes, int64_t offset) {
  const char* record = bytes.data() + offset;
  const uint8_t kind = from_little_endian<uint8_t>(record), taken = from_little_endian<uint8_t>(record + 1);
  source.require_here(
      kind >= static_cast<uint8_t>(Event::Kind::join) && kind <= static_cast<uint8_t>(Event::Kind::stop), offset,
      "an event of the unknown kind {}", kind);
  source.require_here(taken <= 1, offset + 1, "{} where only 0 and 1 have a meaning", taken);
  source.require_here(from_little_endian<uint16_t>(record + 2) == 0 && from_little_endian<uint32_t>(record + 36) == 0,
                      offset, "an event with bits set that have no meaning");
  const uint64_t check = from_little_endian<uint64_t>(record + 40);
  const Check meaning = check_of(static_cast<Event::Kind>(kind));
  source.require_here(check == 0 || meaning != Check::nothing, offset + 40, "bits set that have no meaning");
  return {
      .kind = static_cast<Event::Kind>(kind),
      .taken = taken != 0,
      .worker = static_cast<WorkerId>(from_little_endian<uint32_t>(record + 4)),
      .batch = static_cast<int64_t>(from_little_endian<uint64_t>(record + 8)),
      .version = static_cast<int64_t>(from_little_endian<uint64_t>(record + 16)),
      .learning_rate = std::bit_cast<float>(from_little_endian<uint32_t>(record + 32)),
      .time = std::bit_cast<double>(from_little_endian<uint64_t>(record + 24)),
      .loss = meaning == Check::loss ? std::bit_cast<double>(check) : 0,
      .theta_hash = meaning == Check::theta ? check : 0,
  };
}

}  // namespace

EventLogWriter::EventLogWriter(const std::filesystem::path& path, const EventLogHeader& header) : file_(path) {
  require(header.shard >= 0 && header.shard < header.shards, "event log: shard {} of {}", header.shard, header.shards);
  file_.append(encode(header));
}

void EventLogWriter::check(const std::filesystem::path& path, const EventLogHeader& header, const Position& from) {
  std::ifstream stream = open_to_read(path);
  const EventLog log = read_event_log(stream, path.string(), from.bytes);
  require(log.header == header, "{}: it is the log of another run", path.string());
  require(log.unfinished_bytes == 0 && std::ssize(log.events) == from.events,
          "{}: {} events are expected in its first {} bytes; there are {}, and {} bytes of others", path.string(),
          from.events, from.bytes, log.events.size(), log.unfinished_bytes);
  const int64_t pending = std::ssize(from.records) / kRecordBytes;
  require(std::ssize(from.records) == pending * kRecordBytes && pending < kBlockEvents,
          "{}: {} bytes are to follow, which are not the records of a block that is not full", path.string(),
          from.records.size());
}

EventLogWriter::EventLogWriter(const std::filesystem::path& path, const EventLogHeader& header, const Position& from)
    : file_((check(path, header, from), path), from.bytes),  // checks first, since opening the file cuts it
      events_(from.events) {
  if (!from.records.empty()) block_ = std::string(kBlockHeaderBytes, '\0') + from.records;
}

EventLogWriter::~EventLogWriter() {
  try {
    end_block();
  } catch (const Error&) {
  }
}

void EventLogWriter::append(const Event& event) {
  if (block_.empty()) block_.append(kBlockHeaderBytes, '\0');
  append_record(block_, event);
  const bool full = std::ssize(block_) == kBlockHeaderBytes + kBlockEvents * kRecordBytes;
  const bool telling =
      event.kind == Event::Kind::evaluate || event.kind == Event::Kind::finish || event.kind == Event::Kind::stop;
  if (full || telling) end_block();
}

void EventLogWriter::flush() {
  end_block();
  file_.sync();
}

EventLogWriter::Position EventLogWriter::sync() {
  file_.sync();
  return {file_.bytes(), events_, block_.empty() ? "" : block_.substr(kBlockHeaderBytes)};
}

void EventLogWriter::end_block() {
  if (block_.empty()) return;
  const int64_t count = (std::ssize(block_) - kBlockHeaderBytes) / kRecordBytes;
  std::string header;
  append_little_endian(header, static_cast<uint32_t>(count));
  append_little_endian(header, static_cast<uint64_t>(events_));
  append_checksum(header);
  block_.replace(0, header.size(), header);
  append_little_endian(block_, crc32_of(std::string_view(block_).substr(kBlockHeaderBytes)));
  std::string block;
  block.swap(block_);   // which stays empty if the disk refuses this one: it is not tried again
  file_.append(block);  // in one piece: a reader sees most blocks whole
  block.clear();
  block_.swap(block);  // its memory is used again
  events_ += count;
}

std::string event_log_name(int shard, int shards) {
  return shards == 1 ? "events.bin" : fmt::format("events-{}.bin", shard);
}

std::vector<EventLog> read_event_logs(const std::filesystem::path& folder) {
  std::vector<EventLog> logs;
  const bool one = std::filesystem::exists(folder / event_log_name(0, 1));
  require(one || std::filesystem::exists(folder / event_log_name(0, 2)),
          "{}: there is neither {} nor {}; the folder of a run has one of them", folder.string(), event_log_name(0, 1),
          event_log_name(0, 2));
  logs.push_back(read_event_log(folder / event_log_name(0, one ? 1 : 2)));
  const EventLogHeader first = logs.front().header;
  require(one == (first.shards == 1) && first.shard == 0, "{}: this is the log of shard {} of {}",
          (folder / event_log_name(0, one ? 1 : 2)).string(), first.shard, first.shards);
  for (int shard = 1; shard < first.shards; ++shard) {
    const std::filesystem::path path = folder / event_log_name(shard, first.shards);
    logs.push_back(read_event_log(path));
    const EventLogHeader& header = logs.back().header;
    require(header.shard == shard && header.shards == first.shards && header.job_hash == first.job_hash,
            "{}: this is the log of shard {} of {} of {} run; shard {} of {} is expected", path.string(), header.shard,
            header.shards, header.job_hash == first.job_hash ? "this" : "another", shard, first.shards);
  }
  return logs;
}

EventLog read_event_log(const std::filesystem::path& path) {
  std::ifstream file = open_to_read(path);
  return read_event_log(file, path.string());
}

EventLog read_event_log(std::istream& stream, const std::string& name, int64_t most_bytes) {
  Source source(stream, name, most_bytes);
  EventLog log;
  log.header = read_header(source);
  while (true) {
    const std::string_view header = source.read(kBlockHeaderBytes);
    log.unfinished_bytes = std::ssize(header);
    if (std::ssize(header) < kBlockHeaderBytes) return log;
    source.require_here(checksum_is_right(header), 0, "the header of a block is damaged: its checksum is wrong");
    const int64_t count = from_little_endian<uint32_t>(header.data());
    const uint64_t first = from_little_endian<uint64_t>(header.data() + 4);
    source.require_here(count >= 1 && count <= kBlockEvents, 0, "a block of {} events; there are 1 to {} in a block",
                        count, kBlockEvents);
    source.require_here(first == log.events.size(), 4, "a block that starts with event {}; the one before ends at {}",
                        first, log.events.size());

    const int64_t wanted = count * kRecordBytes + kChecksumBytes;
    const std::string_view records = source.read(wanted);
    log.unfinished_bytes += std::ssize(records);
    if (std::ssize(records) < wanted) return log;
    source.require_here(checksum_is_right(records), 0, "a block of {} events is damaged: its checksum is wrong", count);
    for (int64_t i = 0; i < count; ++i) log.events.push_back(read_record(source, records, i * kRecordBytes));
  }
}

}  // namespace tg
