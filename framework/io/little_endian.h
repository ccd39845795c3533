#pragma once
// Numbers as bytes, lowest byte first whatever the machine does.

#include <cstdint>
#include <string>
#include <type_traits>

namespace tg {

template <class T>
void append_little_endian(std::string& bytes, T value) {
  static_assert(std::is_unsigned_v<T>);
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i));
}

// The value of sizeof(T) bytes.
template <class T>
T from_little_endian(const char* bytes) {
  static_assert(std::is_unsigned_v<T>);
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  return value;
}

}  // namespace tg
