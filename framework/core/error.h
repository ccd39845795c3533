#pragma once
// The one exception type of the project, and the way to throw it with a formatted message.

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tg {

// Every error that a user can cause. The message names the mistake, the place, what was expected and found, and the way
// out.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws Error with a message in fmt's format: fail("matmul: {} columns against {} rows", k, k2).
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

// fail(...) unless `condition` holds. The message is only formatted on failure.
template <class... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(format, std::forward<Args>(args)...);
}

}  // namespace tg
