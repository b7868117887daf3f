// Binary data in the form of text. Internal to engine/query. Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gridmount::query::expressions {

enum class BinaryFormat { kAuto, kBase64, kBase64Url, kHex, kUtf8, kUuid };

// Returns the format of a name such as "base64url", or nullopt if there is none of that name.
std::optional<BinaryFormat> find_binary_format(std::string_view name);

// Returns nullopt if the format cannot express the bytes: kUtf8 needs valid UTF-8, and kUuid needs
// 16 bytes. kAuto is base64.
std::optional<std::string> binary_to_text(std::string_view bytes, BinaryFormat format);
// Returns the bytes, or nullopt if the text does not have the format. Not for kAuto.
std::optional<std::string> binary_from_text(std::string_view text, BinaryFormat format);

}  // namespace gridmount::query::expressions
