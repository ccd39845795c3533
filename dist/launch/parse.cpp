#include "dist/launch/parse.h"

#include <algorithm>
#include <limits>

#include "framework/core/error.h"
#include "framework/core/from_text.h"
#include "framework/core/spec.h"

namespace tg {

double parse_number(const char* flag, const std::string& text, double least, double most) {
  double value = 0;
  require(from_text(text, value) && value >= least && value <= most, "{}: expected a number from {} to {}, found '{}'",
          flag, least, most, text);
  return value;
}

double parse_positive(const char* flag, const std::string& text, double most) {
  double value = 0;
  require(from_text(text, value) && value > 0 && value <= most,
          "{}: expected a number above 0 and up to {}, found '{}'", flag, most, text);
  return value;
}

int64_t parse_integer(const char* flag, const std::string& text, int64_t least, int64_t most) {
  int64_t value = 0;
  require(from_text(text, value) && value >= least && value <= most,
          "{}: expected a whole number from {} to {}, found '{}'", flag, least, most, text);
  return value;
}

std::pair<int64_t, int64_t> parse_range(const char* flag, const std::string& text, int64_t most) {
  const std::size_t dots = std::min(text.find(".."), text.size());
  int64_t first = 0, last = 0;
  require(from_text(text.substr(0, dots), first) && from_text(text.substr(std::min(dots + 2, text.size())), last) &&
              first >= 0 && last >= first,
          "{}: expected two whole numbers from 0 that do not fall, such as 100..199, found '{}'", flag, text);
  require(last - first < most, "{}: from {} to {} are more than {} numbers", flag, first, last, most);
  return {first, last};
}

uint64_t parse_seed(const char* flag, const std::string& text) {
  uint64_t value = 0;
  require(from_text(text, value), "{}: expected a whole number from 0 to {}, found '{}'", flag,
          std::numeric_limits<uint64_t>::max(), text);
  return value;
}

Shape parse_shape(const char* flag, const std::string& text) {
  constexpr int64_t kMostDim = 1 << 14;
  Shape shape;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    int64_t dim = 0;
    require(shape.rank() < 3 && from_text(text.substr(at, end - at), dim) && dim >= 1 && dim <= kMostDim,
            "{}: expected one to three sizes from 1 to {} such as 28x28x1, found '{}'", flag, kMostDim, text);
    shape.push_back(dim);
    at = end + 1;
  }
  return shape;
}

std::string parse_choice(const char* flag, const std::string& text, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), text) == choices.end())
    fail("{}: there is no '{}'{}", flag, text, suggestion(text, choices, "Known: "));
  return text;
}

}  // namespace tg
