#include "engine/base/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace gridmount {
namespace {

constexpr std::string_view kPlainDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kNoDigit = 0xFF;

std::string_view digits_of(Base64 form) {
  return form == Base64::kUrl ? kUrlDigits : kPlainDigits;
}

// Returns the value of each character.
constexpr std::array<uint8_t, 256> values_of(std::string_view digits) {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = kNoDigit;
  for (size_t i = 0; i < digits.size(); ++i) {
    values[static_cast<uint8_t>(digits[i])] = static_cast<uint8_t>(i);
  }
  return values;
}

constexpr std::array<uint8_t, 256> kPlainValues = values_of(kPlainDigits);
constexpr std::array<uint8_t, 256> kUrlValues = values_of(kUrlDigits);

}  // namespace

std::string to_base64(std::string_view bytes, Base64 form) {
  const std::string_view digits = digits_of(form);
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      if (j <= count) {
        text += digits[bits >> (18 - 6 * j) & 63];
      } else if (form == Base64::kPlain) {
        text += '=';
      }
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text, Base64 form) {
  if (form == Base64::kPlain && text.size() % 4 != 0) return std::nullopt;
  const bool may_be_padded = text.size() % 4 == 0;
  for (int i = 0; i < 2 && may_be_padded && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  const std::array<uint8_t, 256>& values = form == Base64::kUrl ? kUrlValues : kPlainValues;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const uint8_t value = values[static_cast<uint8_t>(c)];
    if (value == kNoDigit) return std::nullopt;
    bits = bits << 6 | value;
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes += static_cast<char>(bits >> bit_count & 0xFF);
  }
  return bytes;
}

}  // namespace gridmount
