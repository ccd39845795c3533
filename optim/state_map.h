#pragma once
// State in memory: what a rule or codec wrote, by name, ready to be read by another.

#include <map>
#include <variant>
#include <vector>

#include "optim/state.h"

namespace tg {

// Copies what is written; host memory only. Throws Error for a name that is written twice, missing, of another type or
// of another length.
class StateMap : public StateWriter, public StateReader {
 public:
  using Value = std::variant<std::vector<float>, std::vector<double>, int64_t>;

  void write(const std::string& name, View values) override;
  void write(const std::string& name, BasicSpan<const double> values) override;
  void write(const std::string& name, int64_t value) override;

  void read(const std::string& name, Span values) const override;
  void read(const std::string& name, BasicSpan<double> values) const override;
  int64_t read(const std::string& name) const override;

  // Everything, by name.
  const std::map<std::string, Value>& values() const { return values_; }

 private:
  std::map<std::string, Value> values_;
};

}  // namespace tg
