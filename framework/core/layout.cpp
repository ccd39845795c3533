#include "framework/core/layout.h"

#include <algorithm>

#include "framework/core/error.h"
#include "framework/core/spec.h"

namespace tg {

namespace {

constexpr int64_t kStart = 16;  // elements: 64 bytes of float32

// FNV-1a over bytes, with numbers as eight little-endian bytes.
class Fnv {
 public:
  void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
  }
  void add(int64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      add_byte(static_cast<unsigned char>(static_cast<uint64_t>(number) >> shift & 0xff));
  }
  uint64_t value() const { return hash_; }

 private:
  void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3u; }
  uint64_t hash_ = 0xcbf29ce484222325u;
};

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
  Fnv fnv;
  for (const Entry& entry : entries_) {
    fnv.add(static_cast<int64_t>(entry.name.size()));
    fnv.add(entry.name);
    fnv.add(entry.offset);
    fnv.add(static_cast<int64_t>(entry.shape.rank()));
    for (const int64_t dim : entry.shape) fnv.add(dim);
  }
  return fnv.value();
}

Layout flat_layout(int64_t n) {
  Layout layout;
  layout.add("theta", Shape{n});
  return layout;
}

}  // namespace tg
