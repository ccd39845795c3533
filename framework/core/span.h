#pragma once
// A pointer, a length and a device: what rules, codecs and kernels see of a vector. Does not own.

#include <cstdint>
#include <type_traits>

#include "framework/core/device.h"
#include "framework/core/error.h"

namespace tg {

template <class T>
struct BasicSpan {
  T* data = nullptr;
  int64_t size = 0;  // elements
  Device device = kCpu;

  BasicSpan() = default;
  BasicSpan(T* first, int64_t count, Device where = kCpu) : data(first), size(count), device(where) {}
  // A span of values may be read as a view of them.
  template <class U>
  requires(std::is_same_v<const U, T>) BasicSpan(const BasicSpan<U>& other)
      : data(other.data), size(other.size), device(other.device) {}

  T& operator[](int64_t i) const { return data[i]; }  // host memory only
  T* begin() const { return data; }
  T* end() const { return data + size; }
  bool empty() const { return size == 0; }
  // Elements [first, first + count); throws Error if they are not all inside.
  BasicSpan part(int64_t first, int64_t count) const {
    require(first >= 0 && count >= 0 && first <= size && count <= size - first,
            "span: {} elements from {} asked of a span of {}", count, first, size);
    return {data + first, count, device};
  }
};

using Span = BasicSpan<float>;        // may be written
using View = BasicSpan<const float>;  // may be read

}  // namespace tg
