#include "framework/io/csv.h"

#include <fmt/format.h>

#include <cmath>

namespace tg {

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != fields.data()) line += ',';
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) line.append(c == '"' ? 2 : 1, c);
    line += '"';
  }
  return line + '\n';
}

std::string csv_number(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

}  // namespace tg
