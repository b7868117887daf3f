// Converts binary data to text and back. Internal to engine/query. Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gridmount::query::expressions {

enum class BinaryFormat { kAuto, kBase64, kBase64Url, kHex, kUtf8, kUuid };

// Returns the format with this name, such as "base64url", or nullopt if no format has this name.
std::optional<BinaryFormat> find_binary_format(std::string_view name);

// Returns nullopt if the format cannot express the bytes: kUtf8 needs valid UTF-8, and kUuid needs
// 16 bytes. For kAuto, returns base64.
std::optional<std::string> binary_to_text(std::string_view bytes, BinaryFormat format);
// Returns the bytes, or nullopt if the text does not have the format or if the format is kAuto.
std::optional<std::string> binary_from_text(std::string_view text, BinaryFormat format);

}  // namespace gridmount::query::expressions
