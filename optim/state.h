#pragma once
// How rules and codecs hand over their state, for snapshots.

#include <string>
#include <vector>

#include "framework/core/span.h"

namespace tg {

using WorkerId = int;

// State by name, for snapshots: spans stay valid until the next call of the rule.
class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void write(const std::string& name, View values) = 0;
  virtual void write(const std::string& name, BasicSpan<const double> values) = 0;
  virtual void write(const std::string& name, int64_t value) = 0;
};
// Throws Error naming what is missing or has another length.
class StateReader {
 public:
  virtual ~StateReader() = default;
  virtual void read(const std::string& name, Span values) const = 0;
  virtual void read(const std::string& name, BasicSpan<double> values) const = 0;
  virtual int64_t read(const std::string& name) const = 0;
};

// A list of workers, under "<name>/count" and "<name>/worker/<i>".
void write_workers(StateWriter& state, const std::string& name, const std::vector<WorkerId>& workers);
// Throws Error for a number that is no worker's or stands there twice.
std::vector<WorkerId> read_workers(const StateReader& state, const std::string& name);

}  // namespace tg
