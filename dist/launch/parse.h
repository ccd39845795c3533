#pragma once
// Values of command-line options. Each function throws Error, naming the flag, what was expected and what was found.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/shape.h"

namespace tg {

// From `least` to `most`, both included.
double parse_number(const char* flag, const std::string& text, double least, double most);
// Above 0, up to `most`.
double parse_positive(const char* flag, const std::string& text, double most);
int64_t parse_integer(const char* flag, const std::string& text, int64_t least, int64_t most);
// "100..199": two whole numbers from 0 on, the first and the last of a range of at most `most` numbers.
std::pair<int64_t, int64_t> parse_range(const char* flag, const std::string& text, int64_t most);
uint64_t parse_seed(const char* flag, const std::string& text);
// "28x28x1": one to three dimensions.
Shape parse_shape(const char* flag, const std::string& text);
std::string parse_choice(const char* flag, const std::string& text, const std::vector<std::string>& choices);

}  // namespace tg
