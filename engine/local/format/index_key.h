// What index keys make of key strings (engine/bson/key_string.h): parts of which the document has
// none, and those that are too long for LMDB. FORMAT.md, chapter "Index keys", describes the bytes.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/bson/key_string.h"

namespace gridmount::local {

// Encoded values longer than this are shortened to their first kEncodedBytesMax bytes, a mark and a
// hash of the whole (16 bytes of SHA-256). With a range prefix (4 bytes) and a record id (8 bytes)
// the key stays within LMDB's 511 bytes.
inline constexpr size_t kEncodedBytesMax = 480;
inline constexpr char kShortenedMark = '\x80';

// What a part encodes to when the document has no such field (as null), and when its array is empty
// (as undefined).
void append_encoded_missing(std::string& out, bool descending);
void append_encoded_empty_array(std::string& out, bool descending);

// Shortens the encoding that begins at `start` in `key`, if it is too long. True if it was.
bool shorten(std::string& key, size_t start = 0);

// 64 bits of the SHA-256 of an encoding: what a hashed index holds for a value. As equal values
// encode alike, they hash alike.
int64_t hash_of_encoded(std::string_view encoded);

inline bool is_shortened(std::string_view encoded) {
  return encoded.size() > kEncodedBytesMax;
}

}  // namespace gridmount::local
