#include "engine/query/expression/binary_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/base/base64.h"
#include "engine/base/hex.h"
#include "engine/query/expression/utf8.h"

namespace gridmount::query::expressions {
namespace {

constexpr std::array<std::string_view, 6> kFormatNames{"auto", "base64", "base64url",
                                                       "hex",  "utf8",   "uuid"};

constexpr size_t kUuidBytes = 16;
// The numbers of hexadecimal digits before each dash.
constexpr std::array<size_t, 4> kUuidDashes{8, 12, 16, 20};

uint32_t byte_at(std::string_view bytes, size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

std::string to_uuid(std::string_view bytes) {
  std::string text = to_hex(bytes);
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

// Accepts what RFC 3629 allows: only the shortest form, no surrogates, and no code point above
// U+10FFFF.
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
      return to_base64(bytes, Base64::kUrl);
    case BinaryFormat::kHex:
      return to_hex(bytes, HexDigits::kUpper);
    case BinaryFormat::kUtf8:
      return checked_utf8(bytes);
    case BinaryFormat::kUuid:
      if (bytes.size() != kUuidBytes) return std::nullopt;
      return to_uuid(bytes);
    default:
      return to_base64(bytes);
  }
}

std::optional<std::string> binary_from_text(std::string_view text, BinaryFormat format) {
  switch (format) {
    case BinaryFormat::kBase64:
      return from_base64(text);
    case BinaryFormat::kBase64Url:
      return from_base64(text, Base64::kUrl);
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
