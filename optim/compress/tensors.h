#pragma once
// The parts of a layout's tensors that lie in a range of its vector: what every codec walks over.

#include <algorithm>

#include "framework/core/error.h"
#include "framework/core/layout.h"

namespace tg {

struct TensorPart {
  std::size_t tensor;  // index in layout.entries()
  int64_t at;          // its first element, counted from the range's start
  int64_t begin;       // its first element, counted from the tensor's start
  int64_t count;       // elements, at least 1
};

// Calls f(TensorPart) for each part of elements [first, first + count), in order, the gaps between tensors left out.
// `codec` is for the message of the Error when the range lies outside the vector.
template <class F>
void for_each_part(const char* codec, const Layout& layout, int64_t first, int64_t count, F&& f) {
  require(first >= 0 && count >= 0 && first <= layout.size() && count <= layout.size() - first,
          "codec {}: {} elements from {} of a vector of {}", codec, count, first, layout.size());
  for (std::size_t i = 0; i < layout.entries().size(); ++i) {
    const Layout::Entry& entry = layout.entries()[i];
    const int64_t begin = std::max(first, entry.offset);
    const int64_t end = std::min(first + count, entry.offset + entry.shape.count());
    if (begin < end) f(TensorPart{i, begin - first, begin - entry.offset, end - begin});
  }
}

}  // namespace tg
