#pragma once
// Explanation: the terms of one update (Update::explain), summed up for a reader: how large each is, and where.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "optim/rule.h"

namespace tg {

struct Coordinate {
  std::string parameter;       // "conv1.weight"
  std::vector<int64_t> index;  // in it
  float value = 0;
};

struct ExplainedTerm {
  std::string name;
  double squares = 0;               // their sum
  std::vector<Coordinate> largest;  // by magnitude, from the largest on; the first of equals is the first in the layout
  double norm() const { return std::sqrt(squares); }
};

class Explanation {
 public:
  // Lists so many coordinates of each term. Of all parameters, or, where it is not empty, of `parameter` alone.
  explicit Explanation(int coordinates, std::string parameter = {});

  // Takes down the terms of one shard, whose part of the parameters lies as `layout` says. Both must outlive it.
  std::unique_ptr<Terms> of_shard(const Layout& layout);
  // In the order in which the rule told them; terms of the same name belong together.
  const std::vector<ExplainedTerm>& terms() const { return terms_; }

 private:
  class Shard;
  void add(const std::string& name, View values, const Layout& layout);
  void add(ExplainedTerm& term, View values, const Layout::Entry& entry) const;

  size_t coordinates_;
  std::string parameter_;
  std::vector<ExplainedTerm> terms_;
};

// "conv1.weight[3,0,2,1]"
std::string name_of(const Coordinate& coordinate);

}  // namespace tg
