// Digests, keyed digests and random bytes from OpenSSL, and base64.
//
// Thread-safe: functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/base64.h"
#include "engine/base/error.h"

namespace gridmount::wire {

enum class DigestAlgorithm { kSha1, kSha256 };

// digest() and keyed_digest() (HMAC) return raw bytes. All functions that return a Result fail with
// InternalError if OpenSSL refuses, for example because its configuration does not allow the
// algorithm.
Result<std::string> digest(DigestAlgorithm algorithm, std::string_view data);
Result<std::string> keyed_digest(DigestAlgorithm algorithm, std::string_view key,
                                 std::string_view data);
// Returns the key that PBKDF2 derives. It is as long as the digest.
Result<std::string> derive_key(DigestAlgorithm algorithm, std::string_view password,
                               std::string_view salt, int32_t iterations);
// Returns the MD5 as 32 hexadecimal digits.
Result<std::string> md5_hex(std::string_view data);

Result<std::string> random_bytes(size_t count);
// Returns the 16 bytes of a random UUID.
Result<std::string> random_uuid();
// Compares two strings. The time for this does not depend on the position at which they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Decodes base64. Returns nothing unless the text is exactly what to_base64() writes for the
// decoded bytes. Other texts that stand for the same bytes are not accepted.
std::optional<std::string> from_canonical_base64(std::string_view text);

}  // namespace gridmount::wire
