#pragma once
// Reads and writes events.bin: the events of one shard, which can be read while the run is still writing.
// docs/events.md describes the bytes.

#include <filesystem>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "dist/history/event.h"
#include "framework/io/file.h"

namespace tg {

struct EventLogHeader {
  uint64_t job_hash = 0;  // hash of the run's configuration: only the job that wrote a log can replay it
  int32_t shard = 0;
  int32_t shards = 1;
  bool operator==(const EventLogHeader&) const = default;
};

class EventLogWriter {
 public:
  // How far a log has come; a snapshot keeps this, so that the log can be continued from there.
  struct Position {
    int64_t bytes = 0;    // length of the file, which ends with a whole block
    int64_t events = 0;   // events in the file
    std::string records;  // encoded events of the next block, which is not in the file yet
  };

  // Starts a new file. Throws Error if it exists or cannot be written.
  EventLogWriter(const std::filesystem::path& path, const EventLogHeader& header);
  // Continues a file from the position `from`, and cuts off what comes after it. Throws Error, and cuts off nothing, if
  // check() throws or another process writes to the file.
  EventLogWriter(const std::filesystem::path& path, const EventLogHeader& header, const Position& from);
  // Throws Error unless the file has this header and its first from.bytes bytes are whole blocks with from.events
  // events.
  static void check(const std::filesystem::path& path, const EventLogHeader& header, const Position& from);
  // Writes the last, incomplete block. A destructor cannot report an error: call flush() before, where that matters.
  ~EventLogWriter();
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  // Events reach the file in blocks: when a block is full, and after each evaluate, finish and stop.
  void append(const Event& event);
  // Writes the incomplete block too, and returns when every event is on the disk.
  void flush();
  // Returns when all whole blocks are on the disk, without ending the incomplete one: a log has the same bytes with and
  // without snapshots.
  Position sync();

 private:
  void end_block();

  GrowingFile file_;
  std::string block_;   // the block that is not written yet, with room for its header; empty if it has no events
  int64_t events_ = 0;  // in the blocks before it
};

struct EventLog {
  EventLogHeader header;
  std::vector<Event> events;
  // Length in bytes of an incomplete last block, whose events are not in `events`: the run is still writing, or was
  // killed while it wrote.
  int64_t unfinished_bytes = 0;
};

// "events.bin", or "events-2.bin" where there are several shards.
std::string event_log_name(int shard, int shards);

// Throws Error, naming the file and the byte, for anything that EventLogWriter cannot have written.
EventLog read_event_log(const std::filesystem::path& path);
// Reads a log from any stream, and of that no more than `most_bytes`; `name` is for error messages.
EventLog read_event_log(std::istream& stream, const std::string& name,
                        int64_t most_bytes = std::numeric_limits<int64_t>::max());

// The logs in a run's folder, by shard. Throws Error as read_event_log() does, and if a log is missing or belongs to
// another run.
std::vector<EventLog> read_event_logs(const std::filesystem::path& folder);

}  // namespace tg
