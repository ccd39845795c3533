#pragma once
// Numbers from text, without a locale.

#include <charconv>
#include <string_view>

namespace tg {

// Reads a T, an integer or floating-point type. Returns false unless all of `text` is such a number and a T can hold
// it: no spaces, no leading '+', nothing behind it. `value` is then unspecified.
template <class T>
bool from_text(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stopped == end;
}

}  // namespace tg
