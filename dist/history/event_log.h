#pragma once
// events.bin: the events of one shard, readable while the run lives. docs/events.md draws its bytes.

#include <filesystem>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "dist/history/event.h"
#include "framework/io/file.h"

namespace tg {

struct EventLogHeader {
  uint64_t job_hash = 0;  // of the run's configuration: a log is replayed by the job that wrote it
  int32_t shard = 0;
  int32_t shards = 1;
  bool operator==(const EventLogHeader&) const = default;
};

class EventLogWriter {
 public:
  // How far a log is.
  struct Position {
    int64_t bytes = 0;    // of the file: whole blocks
    int64_t events = 0;   // in them
    std::string records;  // what follows them and is not written yet
  };

  // Throws Error if the file exists or cannot be written.
  EventLogWriter(const std::filesystem::path& path, const EventLogHeader& header);
  // Goes on from `from`, and cuts off what the file has after that. Throws Error if check() does, or the file is being
  // written to.
  EventLogWriter(const std::filesystem::path& path, const EventLogHeader& header, const Position& from);
  // Throws Error unless the file has this header and, up to `from`, whole blocks of so many events.
  static void check(const std::filesystem::path& path, const EventLogHeader& header, const Position& from);
  // Writes what append() still holds; an error is then lost, so call flush() first where it matters.
  ~EventLogWriter();
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  // Readers see an event when its block is full, and every event up to an evaluation or the end of the run at once.
  void append(const Event& event);
  // Ends the block; the file then holds every event, and is on the disk.
  void flush();
  // The same for the blocks that are whole, and how far that is.
  Position sync();

 private:
  void end_block();

  GrowingFile file_;
  std::string block_;   // the one that is not written yet, with room for its header
  int64_t events_ = 0;  // in the blocks before it
};

struct EventLog {
  EventLogHeader header;
  std::vector<Event> events;
  // Bytes of a last block that is not whole: the run lives, or was killed as it wrote. Its events are missing above.
  int64_t unfinished_bytes = 0;
};

// "events.bin", or "events-2.bin" where there are several shards.
std::string event_log_name(int shard, int shards);

// Throws Error, naming file and byte, for anything that EventLogWriter cannot have written.
EventLog read_event_log(const std::filesystem::path& path);
// The same from any stream, as if it had no more than `most_bytes`; `name` is for the errors.
EventLog read_event_log(std::istream& stream, const std::string& name,
                        int64_t most_bytes = std::numeric_limits<int64_t>::max());

// The logs of all shards of a run's folder, by shard. Throws Error also if one is missing or belongs to another run.
std::vector<EventLog> read_event_logs(const std::filesystem::path& folder);

}  // namespace tg
