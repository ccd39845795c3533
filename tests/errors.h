#pragma once
// Error messages as text, so that a test can look at their words.

#include <string>

#include "framework/core/error.h"

// The message of the tg::Error that f() throws; "" if it throws none. Any other exception goes through.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const tg::Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
