#include "tests/dist/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> count = 0;

}  // namespace

int64_t allocations() { return count; }

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_OWN_NEW
#endif
#endif

#if !defined(HAS_OWN_NEW)
void* operator new(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
