// Base64 (RFC 4648).
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gridmount {

enum class Base64 {
  kPlain,  // section 4, padded with '='
  kUrl,    // section 5, with '-' and '_'; written without padding, read with or without
};

// Encodes the bytes. Adds no line breaks.
std::string to_base64(std::string_view bytes, Base64 form = Base64::kPlain);
// Decodes the text. Returns nothing if it has a character outside the alphabet or the wrong
// padding. Ignores the bits of the last digit that belong to no byte.
std::optional<std::string> from_base64(std::string_view text, Base64 form = Base64::kPlain);

}  // namespace gridmount
