#pragma once
// Host memory for tensors: one reserved range of addresses per process, cut best-fit, with huge pages, never given back
// in a step.
//
// Why: a fresh 8 MiB buffer costs 25 ms of page faults with 4 KiB pages, 0.2 ms when it is reused
// (docs/performance.md). One range with coalescing free blocks keeps the memory in use close to what tensors ask for,
// which size classes do not.

#include <cstddef>
#include <cstdint>

namespace tg {

struct PoolStats {
  int64_t live = 0;          // bytes that tensors hold now
  int64_t live_peak = 0;     // the most that `live` has been since reset_peak()
  int64_t cached = 0;        // bytes taken from the system and which no tensor holds; after trim() some have no pages
  int64_t peak = 0;          // the most taken from the system since reset_peak()
  int64_t system_calls = 0;  // how often the pool had to ask the system for more
};

namespace pool {

inline constexpr std::size_t kAlignment = 64;

// What allocate(bytes) adds to `live`.
inline int64_t block_size(int64_t bytes) {
  constexpr auto kUnit = static_cast<int64_t>(kAlignment);
  return bytes < 1 ? kUnit : (bytes + kUnit - 1) / kUnit * kUnit;
}

// At least `bytes` bytes at a 64-byte boundary, contents undefined. Thread-safe. Throws Error when the system has no
// more.
void* allocate(std::size_t bytes);
// Gives a block back to the pool; `block` must come from allocate().
void release(void* block) noexcept;
// Returns the pages of free blocks to the system.
void trim();
PoolStats stats();
void reset_peak();

}  // namespace pool
}  // namespace tg
