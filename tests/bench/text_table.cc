#include "tests/bench/text_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gridmount::bench {

std::string format(const char* pattern, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, value);
  return text.data();
}

std::string number(double value) {
  if (value < 100) return format("%.1f", value);
  std::string text = format("%.0f", value);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string aligned(const Lines& lines, size_t left) {
  std::vector<size_t> widths(lines.front().size());
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string result;
  for (const std::vector<std::string>& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - line[i].size(), ' ');
      text += std::string(i == 0 ? 0 : 2, ' ') + (i < left ? line[i] + padding : padding + line[i]);
    }
    result += text + "\n";
    if (&line == &lines.front()) result += std::string(text.size(), '-') + "\n";
  }
  return result;
}

}  // namespace gridmount::bench
