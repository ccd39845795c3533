#pragma once
// Explanation: summarises the terms of one update (Update::explain, Worker::explain) for a reader: how large each term
// is, and in which coordinates it is largest.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "optim/rule.h"

namespace tg {

struct Coordinate {
  std::string parameter;       // "conv1.weight"
  std::vector<int64_t> index;  // one number for each axis of that parameter
  float value = 0;
};

struct ExplainedTerm {
  std::string name;
  double squares = 0;  // sum of the squares of all coordinates
  // The coordinates of largest magnitude, in decreasing order; equal ones in the order of the layout. NaN counts as
  // infinite.
  std::vector<Coordinate> largest;
  double norm() const { return std::sqrt(squares); }
};

class Explanation {
 public:
  // Keeps the `coordinates` largest coordinates of each term. If `parameter` is not empty, looks at this tensor alone.
  explicit Explanation(int coordinates, std::string parameter = {});

  // An object for Update::explain that adds the terms of one shard, or for Worker::explain. `layout` is that of the
  // shard's part of the parameters, or of all; it and this object must outlive the returned one.
  std::unique_ptr<Terms> of_shard(const Layout& layout);
  // In the order in which the rule named them. Terms of the same name, from several shards, are one.
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
