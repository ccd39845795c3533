#pragma once
// Values of command-line options. Each function throws Error that names the flag, what was expected and what was found.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/shape.h"

namespace tg {

double parse_number(const char* flag, const std::string& text, double least, double most);
// Above zero.
double parse_positive(const char* flag, const std::string& text, double most);
int64_t parse_integer(const char* flag, const std::string& text, int64_t least, int64_t most);
// "100..199": from the first to the last, both with it, `most` numbers at most.
std::pair<int64_t, int64_t> parse_range(const char* flag, const std::string& text, int64_t most);
uint64_t parse_seed(const char* flag, const std::string& text);
// "28x28x1": one to three dimensions.
Shape parse_shape(const char* flag, const std::string& text);
std::string parse_choice(const char* flag, const std::string& text, const std::vector<std::string>& choices);

}  // namespace tg
