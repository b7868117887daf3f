// Prints numbers and tables of numbers for the benchmarks.
#pragma once

#include <string>
#include <vector>

namespace gridmount::bench {

// Formats like printf, with a pattern for one number.
std::string format(const char* pattern, double value);
// Returns "1,234,567", or a small number with one decimal.
std::string number(double value);

using Lines = std::vector<std::vector<std::string>>;

// Aligns the first `left` columns to the left and the others to the right, with a rule below the
// first line.
std::string aligned(const Lines& lines, size_t left);

}  // namespace gridmount::bench
