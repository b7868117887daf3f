// Digests, keyed digests, random bytes and base64, over OpenSSL.
//
// Thread-safety: functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/base64.h"
#include "engine/base/error.h"

namespace gridmount::wire {

enum class DigestAlgorithm { kSha1, kSha256 };

// Bytes. InternalError where OpenSSL is set up to refuse the algorithm.
Result<std::string> digest(DigestAlgorithm algorithm, std::string_view data);
Result<std::string> keyed_digest(DigestAlgorithm algorithm, std::string_view key,
                                 std::string_view data);
// PBKDF2 with the digest's length.
Result<std::string> derive_key(DigestAlgorithm algorithm, std::string_view password,
                               std::string_view salt, int32_t iterations);
// 32 hexadecimal digits.
Result<std::string> md5_hex(std::string_view data);

Result<std::string> random_bytes(size_t count);
// In a time that does not depend on where they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// The bytes; nothing if the text is not what to_base64() writes, as other texts can have one
// meaning.
std::optional<std::string> from_canonical_base64(std::string_view text);

}  // namespace gridmount::wire
