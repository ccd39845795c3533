#include "framework/core/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>

#include "framework/core/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#endif

namespace tg::pool {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLargestRange = std::size_t{1} << 38;
constexpr std::size_t kSmallestRange = std::size_t{1} << 30;

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

// [0, committed) of the range is usable; it is tiled by blocks, free or live. Free neighbours are always merged, so
// that a large tensor fits where several small ones were.
class Arena {
 public:
  Arena() {
    for (range_ = kLargestRange; range_ >= kSmallestRange; range_ /= 2) {
      void* p = mmap(nullptr, range_ + kHugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) continue;
      base_ = reinterpret_cast<char*>(round_up(reinterpret_cast<std::size_t>(p), kHugePage));
      return;
    }
    fail("pool: the system grants no range of addresses of 1 GiB (is `ulimit -v` set?)");
  }

  void* allocate(std::size_t bytes) {
    require(bytes <= range_, "pool: {} bytes asked for, more than the range of {}", bytes, range_);
    const auto size = static_cast<std::size_t>(block_size(static_cast<int64_t>(bytes)));
    const std::lock_guard lock(mutex_);
    // Best fit; among equals the lowest address, which keeps the top of the range free.
    auto fit = free_.lower_bound({size, 0});
    if (fit == free_.end()) {
      grow(size);
      fit = free_.lower_bound({size, 0});
    }
    const auto [found, start] = *fit;
    // From the far end of a hole: what is left of it then lies beside the free memory before it, and a large tensor
    // that was here a moment ago finds its place whole again. (From the near end a step of LeNet takes 1.8 times the
    // memory.)
    const bool far_end = start + found != committed_;
    const std::size_t offset = far_end ? start + found - size : start;
    live_.emplace(offset, size);
    erase_free(start, found);
    if (found > size) insert_free(far_end ? start : start + size, found - size);
    stats_.live += static_cast<int64_t>(size);
    stats_.live_peak = std::max(stats_.live_peak, stats_.live);
    ASAN_UNPOISON_MEMORY_REGION(base_ + offset, bytes);
    return base_ + offset;
  }

  void release(void* block) noexcept {
    std::size_t offset = static_cast<std::size_t>(static_cast<char*>(block) - base_);
    const std::lock_guard lock(mutex_);
    const auto it = live_.find(offset);
    std::size_t size = it->second;
    live_.erase(it);
    stats_.live -= static_cast<int64_t>(size);
    ASAN_POISON_MEMORY_REGION(base_ + offset, size);
    if (const auto next = starts_.find(offset + size); next != starts_.end()) {
      const std::size_t next_size = next->second;
      erase_free(offset + size, next_size);
      size += next_size;
    }
    if (const auto before = ends_.find(offset); before != ends_.end()) {
      const std::size_t before_size = offset - before->second;
      offset = before->second;
      erase_free(offset, before_size);
      size += before_size;
    }
    insert_free(offset, size);
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    for (const auto& [size, offset] : free_) {
      const std::size_t first = round_up(offset, kHugePage), last = (offset + size) / kHugePage * kHugePage;
      if (first < last) madvise(base_ + first, last - first, MADV_DONTNEED);
    }
    // The topmost free block leaves the pool, so `cached` falls, and `peak` at the next reset_peak().
    if (const auto top = ends_.find(committed_); top != ends_.end()) {
      const std::size_t keep = round_up(top->second, kHugePage), offset = top->second;
      erase_free(offset, committed_ - offset);
      if (keep > offset) insert_free(offset, keep - offset);
      committed_ = keep;
    }
  }

  PoolStats stats() {
    const std::lock_guard lock(mutex_);
    PoolStats s = stats_;
    s.cached = static_cast<int64_t>(committed_) - s.live;
    return s;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    stats_.live_peak = stats_.live;
    stats_.peak = static_cast<int64_t>(committed_);
  }

 private:
  void grow(std::size_t size) {
    // A free block at the top is part of the answer.
    const auto top = ends_.find(committed_);
    const std::size_t have = top == ends_.end() ? 0 : committed_ - top->second;
    const std::size_t more = round_up(size - have, kHugePage);
    require(more <= range_ - committed_, "pool: {} bytes asked for, {} are live; the range of {} is used up", size,
            stats_.live, range_);
    char* at = base_ + committed_;
    require(mprotect(at, more, PROT_READ | PROT_WRITE) == 0,
            "pool: the system has no {} bytes more; {} are live and {} free in pieces", more, stats_.live,
            committed_ - static_cast<std::size_t>(stats_.live));
    madvise(at, more, MADV_HUGEPAGE);
    ASAN_POISON_MEMORY_REGION(at, more);
    if (have != 0) erase_free(committed_ - have, have);
    insert_free(committed_ - have, have + more);
    committed_ += more;
    stats_.peak = std::max(stats_.peak, static_cast<int64_t>(committed_));
    ++stats_.system_calls;
  }
  void insert_free(std::size_t offset, std::size_t size) {
    free_.emplace(size, offset);
    starts_.emplace(offset, size);
    ends_.emplace(offset + size, offset);
  }
  void erase_free(std::size_t offset, std::size_t size) {
    free_.erase({size, offset});
    starts_.erase(offset);
    ends_.erase(offset + size);
  }

  char* base_ = nullptr;
  std::size_t range_ = 0, committed_ = 0;
  std::set<std::pair<std::size_t, std::size_t>> free_;   // (size, offset)
  std::unordered_map<std::size_t, std::size_t> starts_;  // free: offset -> size
  std::unordered_map<std::size_t, std::size_t> ends_;    // free: one past the end -> offset
  std::unordered_map<std::size_t, std::size_t> live_;    // offset -> size
  PoolStats stats_;
  std::mutex mutex_;
};

// Never destroyed: tensors in static objects may outlive any order of destruction.
Arena& arena() {
  static Arena* instance = new Arena;
  return *instance;
}

}  // namespace

void* allocate(std::size_t bytes) { return arena().allocate(bytes); }
void release(void* block) noexcept { arena().release(block); }
void trim() { arena().trim(); }
PoolStats stats() { return arena().stats(); }
void reset_peak() { arena().reset_peak(); }

}  // namespace tg::pool
