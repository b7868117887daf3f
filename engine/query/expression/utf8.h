// Finds and counts code points in text that need not be valid UTF-8. Internal to engine/query.
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace gridmount::query::expressions {

inline bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Returns the size in bytes of a code point with this first byte. Returns 5 for a continuation
// byte, and for a byte greater than 0xF7.
inline size_t code_point_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x80) return 1;
  if (byte < 0xC0) return 5;
  if (byte < 0xE0) return 2;
  if (byte < 0xF0) return 3;
  return byte < 0xF8 ? 4 : 5;
}

// Counts all bytes that are not continuation bytes.
inline size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation_byte(c); }));
}

// Returns the position after the code point at `at`. If `at` is the end of the text, returns
// text.size() + 1.
inline size_t next_code_point(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && is_continuation_byte(text[at])) ++at;
  return at;
}

}  // namespace gridmount::query::expressions
