// What index keys add to key strings (engine/bson/key_string.h): encodings for missing fields and
// empty arrays, truncation of keys that are too long for LMDB, and hashes. FORMAT.md, chapter
// "Index keys", describes the bytes.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/bson/key_string.h"

namespace gridmount::local {

// An encoding of more than kEncodedBytesMax bytes is truncated to that length, and a mark and the
// first 16 bytes of the SHA-256 of the whole encoding are appended. With a keyspace prefix (4
// bytes) and a record id (8 bytes) the key stays within LMDB's limit of 511 bytes.
inline constexpr size_t kEncodedBytesMax = 480;
inline constexpr char kTruncatedMark = '\x80';

// A field that the document lacks has the encoding of null, and an empty array that of undefined.
void append_encoded_missing(std::string& out, bool descending);
void append_encoded_empty_array(std::string& out, bool descending);

// Truncates the encoding that begins at offset `start` of `key` and reaches to the end of `key`, if
// the encoding is too long. Returns true if it was too long.
bool truncate_encoding(std::string& key, size_t start = 0);

// Returns the first 64 bits of the SHA-256 of an encoding. A hashed index holds them in place of
// the value. Equal values have equal encodings, so they have equal hashes.
int64_t hash_of_encoded(std::string_view encoded);

// Returns whether truncate_encoding() has truncated this encoding, or would truncate it.
inline bool is_truncated(std::string_view encoded) {
  return encoded.size() > kEncodedBytesMax;
}

}  // namespace gridmount::local
