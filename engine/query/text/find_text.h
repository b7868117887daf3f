// Finds a string in another one in linear time. Internal to engine/query. Thread-safety: a function
// without state.
#pragma once

#include <cstring>
#include <string_view>

namespace gridmount::query {

// Returns the same position as text.find(token, from). std::string_view::find() takes quadratic
// time in the worst case: up to 10^13 steps for a token of 4 MB in a text of 8 MB.
inline size_t find_text(std::string_view text, std::string_view token, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (token.empty()) return from;
  const auto* const found = static_cast<const char*>(
      memmem(text.data() + from, text.size() - from, token.data(), token.size()));
  return found == nullptr ? std::string_view::npos : static_cast<size_t>(found - text.data());
}

}  // namespace gridmount::query
