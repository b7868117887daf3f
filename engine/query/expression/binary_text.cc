#include "engine/query/expression/binary_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/query/expression/utf8.h"

namespace gridmount::query::expressions {
namespace {

constexpr std::array<std::string_view, 6> kFormatNames{"auto", "base64", "base64url",
                                                       "hex",  "utf8",   "uuid"};

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr size_t kUuidBytes = 16;
// Of the digits, where the dashes stand.
constexpr std::array<size_t, 4> kUuidDashes{8, 12, 16, 20};

uint32_t byte_at(std::string_view bytes, size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

// Only the plain form is padded.
std::string to_base64(std::string_view bytes, std::string_view alphabet, bool with_padding) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < count ? byte_at(bytes, i + j) : 0);
    for (size_t j = 0; j < 4; ++j) {
      if (j <= count) {
        text += alphabet[bits >> (18 - 6 * j) & 63];
      } else if (with_padding) {
        text += '=';
      }
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text, std::string_view alphabet,
                                       bool needs_padding) {
  if (needs_padding && text.size() % 4 != 0) return std::nullopt;
  const size_t size = text.size();
  for (int i = 0; i < 2 && size % 4 == 0 && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  size_t digits = 0;
  for (const char c : text) {
    const size_t digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (++digits % 4 == 0) {
      for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 0xFF);
      bits = 0;
    }
  }
  if (digits % 4 == 2) bytes += static_cast<char>(bits >> 4 & 0xFF);
  if (digits % 4 == 3) {
    bytes += static_cast<char>(bits >> 10 & 0xFF);
    bytes += static_cast<char>(bits >> 2 & 0xFF);
  }
  return bytes;
}

std::string to_hex(std::string_view bytes, std::string_view digits) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  unsigned value = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool is_lower = c >= 'a' && c <= 'f';
    const bool is_upper = c >= 'A' && c <= 'F';
    if (!is_lower && !is_upper && !(c >= '0' && c <= '9')) return std::nullopt;
    const char base = is_lower ? 'a' : is_upper ? 'A' : '0';
    value = value << 4 | static_cast<unsigned>(c - base + (base == '0' ? 0 : 10));
    if (i % 2 == 1) bytes += static_cast<char>(value & 0xFF);
  }
  return bytes;
}

std::string to_uuid(std::string_view bytes) {
  std::string text = to_hex(bytes, "0123456789abcdef");
  for (size_t i = 0; i < kUuidDashes.size(); ++i) text.insert(kUuidDashes[i] + i, 1, '-');
  return text;
}

std::optional<std::string> from_uuid(std::string_view text) {
  if (text.size() != 2 * kUuidBytes + kUuidDashes.size()) return std::nullopt;
  std::string digits;
  size_t from = 0;
  for (size_t i = 0; i < kUuidDashes.size(); ++i) {
    const size_t dash = kUuidDashes[i] + i;
    if (text[dash] != '-') return std::nullopt;
    digits += text.substr(from, dash - from);
    from = dash + 1;
  }
  digits += text.substr(from);
  return from_hex(digits);
}

// As RFC 3629 has it: the shortest form, no surrogates, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = code_point_bytes(text[0]);
    if (size > 4 || size > text.size()) return false;
    uint32_t code = size == 1 ? byte_at(text, 0) : byte_at(text, 0) & (0x7FU >> size);
    for (size_t i = 1; i < size; ++i) {
      if (!is_continuation_byte(text[i])) return false;
      code = code << 6 | (byte_at(text, i) & 0x3F);
    }
    constexpr std::array<uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < kLeast[size] || is_surrogate || code > 0x10FFFF) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::optional<std::string> checked_utf8(std::string_view bytes) {
  if (!is_valid_utf8(bytes)) return std::nullopt;
  return std::string(bytes);
}

}  // namespace

std::optional<BinaryFormat> find_binary_format(std::string_view name) {
  const auto* const found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  if (found == kFormatNames.end()) return std::nullopt;
  return static_cast<BinaryFormat>(found - kFormatNames.begin());
}

std::optional<std::string> binary_to_text(std::string_view bytes, BinaryFormat format) {
  switch (format) {
    case BinaryFormat::kBase64Url:
      return to_base64(bytes, kUrlAlphabet, false);
    case BinaryFormat::kHex:
      return to_hex(bytes, "0123456789ABCDEF");
    case BinaryFormat::kUtf8:
      return checked_utf8(bytes);
    case BinaryFormat::kUuid:
      if (bytes.size() != kUuidBytes) return std::nullopt;
      return to_uuid(bytes);
    default:
      return to_base64(bytes, kAlphabet, true);
  }
}

std::optional<std::string> binary_from_text(std::string_view text, BinaryFormat format) {
  switch (format) {
    case BinaryFormat::kBase64:
      return from_base64(text, kAlphabet, true);
    case BinaryFormat::kBase64Url:
      return from_base64(text, kUrlAlphabet, false);
    case BinaryFormat::kHex:
      return from_hex(text);
    case BinaryFormat::kUtf8:
      return checked_utf8(text);
    case BinaryFormat::kUuid:
      return from_uuid(text);
    default:
      return std::nullopt;
  }
}

}  // namespace gridmount::query::expressions
