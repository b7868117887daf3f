// Digests, keyed digests, random bytes and base64, based on OpenSSL.
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

// Return raw bytes. Fail with InternalError if OpenSSL is configured to refuse the algorithm.
Result<std::string> digest(DigestAlgorithm algorithm, std::string_view data);
Result<std::string> keyed_digest(DigestAlgorithm algorithm, std::string_view key,
                                 std::string_view data);
// PBKDF2. The key is as long as the digest.
Result<std::string> derive_key(DigestAlgorithm algorithm, std::string_view password,
                               std::string_view salt, int32_t iterations);
// Returns 32 hexadecimal digits.
Result<std::string> md5_hex(std::string_view data);

Result<std::string> random_bytes(size_t count);
// Returns the 16 bytes of a random UUID.
Result<std::string> random_uuid();
// The time it takes does not depend on where the strings differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Returns the bytes, or nothing if the text is not exactly what to_base64() writes. Base64 has
// several texts for the same bytes, and only that one is accepted.
std::optional<std::string> from_canonical_base64(std::string_view text);

}  // namespace gridmount::wire
