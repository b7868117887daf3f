// Binary data written as text. Internal to this folder. Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gridmount::query::expressions {

enum class BinaryFormat { kAuto, kBase64, kBase64Url, kHex, kUtf8, kUuid };

// "base64url"; nothing if there is none of that name.
std::optional<BinaryFormat> find_binary_format(std::string_view name);

// Nothing if the bytes are nothing that the format can say: utf8 wants UTF-8, uuid 16 bytes. kAuto
// is base64.
std::optional<std::string> binary_to_text(std::string_view bytes, BinaryFormat format);
// The bytes; nothing if it is no text of that format. Not for kAuto.
std::optional<std::string> binary_from_text(std::string_view text, BinaryFormat format);

}  // namespace gridmount::query::expressions
