// Writes and reads bytes as hexadecimal digits, two for each byte.
//
// Thread-safety: functions without state.
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

// Returns the value of a digit of either case, or nothing for any other character.
std::optional<uint8_t> hex_value(char digit);
// Decodes digits of either case. Returns nothing if the text has another character or an odd number
// of digits.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace gridmount
