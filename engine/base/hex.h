// Bytes as hexadecimal digits, two a byte.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gridmount {

enum class HexDigits { kLower, kUpper };

void append_hex(std::string& text, uint8_t byte, HexDigits digits = HexDigits::kLower);
std::string to_hex(std::span<const uint8_t> bytes, HexDigits digits = HexDigits::kLower);
std::string to_hex(std::string_view bytes, HexDigits digits = HexDigits::kLower);

// Of a digit, upper or lower; nothing of another character.
std::optional<uint8_t> hex_value(char digit);
// The bytes; nothing if the text has another character, or half a byte.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace gridmount
