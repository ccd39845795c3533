#pragma once
// Layout: where each parameter of a model lies in one flat vector.

#include <string>
#include <string_view>
#include <vector>

#include "framework/core/shape.h"

namespace tg {

// Parameters start at 64-byte boundaries; the gaps between them hold zeros and count for nothing. Whoever counts, takes
// norms or encodes goes by entries and skips the gaps; a rule may run over the whole vector, since zeros stay zeros.
class Layout {
 public:
  struct Entry {
    std::string name;    // path in the model: "conv1.weight"
    int64_t offset = 0;  // elements from the start, a multiple of 16
    Shape shape;
    bool operator==(const Entry&) const = default;
  };

  // Appends a parameter and returns its offset; throws Error if the name is taken.
  int64_t add(std::string name, const Shape& shape);

  const std::vector<Entry>& entries() const { return entries_; }
  const Entry& find(std::string_view name) const;  // throws Error that lists the names
  int64_t size() const { return size_; }           // elements of the flat vector, gaps included
  int64_t count() const { return count_; }         // elements that are parameters
  uint64_t hash() const;                           // of names, offsets and shapes; the same on every machine
  bool operator==(const Layout&) const = default;

 private:
  std::vector<Entry> entries_;
  int64_t size_ = 0;
  int64_t count_ = 0;
};

// A layout with a single parameter "theta" of n elements, for vectors that come from no model.
Layout flat_layout(int64_t n);

}  // namespace tg
