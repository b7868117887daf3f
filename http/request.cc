#include "http/request.h"

#include <algorithm>

namespace gridmount::http {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::string> Request::field(std::string_view name) const {
  std::optional<std::string> all;
  for (const auto& [key, value] : fields) {
    if (!equals_ignoring_case(key, name)) continue;
    all = all ? *all + ", " + value : value;
  }
  return all;
}

}  // namespace gridmount::http
