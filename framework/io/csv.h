#pragma once
// Rows of comma-separated values (RFC 4180).

#include <string>
#include <string_view>
#include <vector>

namespace tg {

// One line with its end: fields with a comma, a quote or a line break are quoted.
std::string csv_line(const std::vector<std::string>& fields);

// The shortest text that reads back as the same number; "nan" where there is none.
std::string csv_number(double value);

}  // namespace tg
