// Prints numbers and tables of numbers for the benchmarks.
#pragma once

#include <string>
#include <vector>

namespace gridmount::bench {

// As printf has it, for a pattern of one number.
std::string format(const char* pattern, double value);
// "1,234,567"; small figures with a decimal.
std::string number(double value);

using Lines = std::vector<std::vector<std::string>>;

// The first `left` columns to the left, the others to the right, a rule below the first line.
std::string aligned(const Lines& lines, size_t left);

}  // namespace gridmount::bench
