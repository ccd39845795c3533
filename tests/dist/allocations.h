#pragma once
// Counts what this program allocates by `new`, in all threads.

#include <cstdint>

// 0 for ever under clang's ThreadSanitizer, which brings its own operator new.
int64_t allocations();
