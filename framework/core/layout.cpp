#include "framework/core/layout.h"

#include <algorithm>

#include "framework/core/error.h"
#include "framework/core/fnv.h"
#include "framework/core/spec.h"

namespace tg {

namespace {

constexpr int64_t kStart = 16;  // elements: 64 bytes of float32

// The number as eight little-endian bytes.
uint64_t add_to_hash(uint64_t hash, int64_t number) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(static_cast<uint64_t>(number) >> 8 * i);
  return fnv1a({bytes, 8}, hash);
}

std::vector<std::string> names_of(const std::vector<Layout::Entry>& entries) {
  std::vector<std::string> names;
  for (const Layout::Entry& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace

int64_t Layout::add(std::string name, const Shape& shape) {
  require(!name.empty(), "layout: a parameter of shape {} has no name", shape.str());
  for (const Entry& entry : entries_)
    require(entry.name != name, "layout: two parameters are called '{}', of shapes {} and {}", name, entry.shape.str(),
            shape.str());
  const int64_t count = shape.count();
  require(count <= kMostElements - size_ - kStart, "layout: parameter '{}' of shape {} makes the vector too long", name,
          shape.str());
  const int64_t offset = size_;
  entries_.push_back({std::move(name), offset, shape});
  size_ += (count + kStart - 1) / kStart * kStart;
  count_ += count;
  return offset;
}

const Layout::Entry& Layout::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  if (found == entries_.end())
    fail("layout: there is no parameter '{}'{}", name, suggestion(name, names_of(entries_), "It has: "));
  return *found;
}

uint64_t Layout::hash() const {
  uint64_t hash = fnv1a("");
  for (const Entry& entry : entries_) {
    hash = add_to_hash(hash, std::ssize(entry.name));
    hash = fnv1a(entry.name, hash);
    hash = add_to_hash(hash, entry.offset);
    hash = add_to_hash(hash, entry.shape.rank());
    for (const int64_t dim : entry.shape) hash = add_to_hash(hash, dim);
  }
  return hash;
}

Layout flat_layout(int64_t n) {
  Layout layout;
  layout.add("theta", Shape{n});
  return layout;
}

}  // namespace tg
