#pragma once
// Text for people: tables, numbers and durations.

#include <string>
#include <vector>

namespace tg {

// Columns two spaces apart: the first left_columns left-aligned, the others right-aligned. Every row has as many fields
// as the header.
std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  std::size_t left_columns);

// "14.20 +- 0.31": mean and sample standard deviation of the finite values; the latter from two values on. "-" for
// none.
std::string mean_and_deviation(const std::vector<double>& values, int digits);

// "12", "460.8 k", "8.178 G": four digits, in steps of a thousand.
std::string quantity(double number);

// "42 s", "3:07", "1:03:07"
std::string duration_text(double seconds);

// To standard output at once. That nobody reads it any more is no reason to end a run.
void say(const std::string& text);

}  // namespace tg
