#pragma once
// Text for people: tables, numbers and durations.

#include <string>
#include <vector>

namespace tg {

// Columns are two spaces apart; the first `left_columns` are left-aligned, the others right-aligned. Every row must
// have as many fields as the header.
std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  std::size_t left_columns);

// "14.20 +- 0.31": mean and sample standard deviation of the finite values; for a single one the mean alone, for none
// "-".
std::string mean_and_deviation(const std::vector<double>& values, int digits);

// "12", "460.8 k", "8.178 G": four digits and a decimal prefix.
std::string quantity(double number);

// "42 s", "3:07", "1:03:07"
std::string duration_text(double seconds);

// Prints to standard output, without buffering. Errors are ignored: a run must not end because nobody reads its output.
void say(const std::string& text);

}  // namespace tg
