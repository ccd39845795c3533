#pragma once
// A codec's state by name, as a snapshot would keep it.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "optim/state.h"

namespace tg::test {

class State : public StateWriter, public StateReader {
 public:
  void write(const std::string& name, View values) override { vectors[name].assign(values.begin(), values.end()); }
  void write(const std::string&, BasicSpan<const double>) override { BOOST_FAIL("no codec has doubles"); }
  void write(const std::string& name, int64_t value) override { numbers[name] = value; }
  void read(const std::string& name, Span values) const override {
    const std::vector<float>& from = vectors.at(name);
    BOOST_REQUIRE(std::ssize(from) == values.size);
    std::copy(from.begin(), from.end(), values.begin());
  }
  void read(const std::string&, BasicSpan<double>) const override { BOOST_FAIL("no codec has doubles"); }
  int64_t read(const std::string& name) const override { return numbers.at(name); }

  std::map<std::string, std::vector<float>> vectors;
  std::map<std::string, int64_t> numbers;
};

}  // namespace tg::test
