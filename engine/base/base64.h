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

std::string to_base64(std::string_view bytes, Base64 form = Base64::kPlain);
// The bytes; nothing if the text has another character, or not its padding. Bits that the last
// digit has beyond the bytes are passed over.
std::optional<std::string> from_base64(std::string_view text, Base64 form = Base64::kPlain);

}  // namespace gridmount
