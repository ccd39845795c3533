#pragma once
// FNV-1a with 64 bits (Fowler, Noll and Vo): a simple hash of bytes that is the same on every machine.

#include <cstdint>
#include <string_view>

namespace tg {

// The hash of `bytes`; or, given the hash of what comes before them, of both together.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace tg
