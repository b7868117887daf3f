#include "engine/base/hex.h"

namespace gridmount {

void append_hex(std::string& text, uint8_t byte, HexDigits digits) {
  const std::string_view all =
      digits == HexDigits::kUpper ? "0123456789ABCDEF" : "0123456789abcdef";
  text += all[byte >> 4];
  text += all[byte & 15];
}

std::string to_hex(std::span<const uint8_t> bytes, HexDigits digits) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) append_hex(text, byte, digits);
  return text;
}

std::string to_hex(std::string_view bytes, HexDigits digits) {
  return to_hex(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), digits);
}

std::optional<uint8_t> hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<uint8_t>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<uint8_t>(digit - 'A' + 10);
  return std::nullopt;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const std::optional<uint8_t> high = hex_value(text[i]);
    const std::optional<uint8_t> low = hex_value(text[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high << 4 | *low);
  }
  return bytes;
}

}  // namespace gridmount
