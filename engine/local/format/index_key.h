// Order-preserving encoding of BSON values: memcmp on two encodings gives bson::compare on the
// values. FORMAT.md, chapter "Index keys", describes the bytes.
//
// Invariants:
//  K1. No encoding of a value is a proper prefix of another's, so encodings of several values can
//  be
//      put behind each other and still compare part by part.
//  K2. Values that compare equal encode alike, whatever their types (int32 5, double 5, decimal 5).
//  K3. The first byte of an encoded value is never 0x00 nor 0xFF, in either direction, so appending
//      0xFF to the encodings of leading parts gives a bound above every key that begins with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace gridmount::local {

// Encoded values longer than this are shortened to their first kEncodedBytesMax bytes, a mark and a
// hash of the whole (16 bytes of SHA-256). With a range prefix (4 bytes) and a record id (8 bytes)
// the key stays within LMDB's 511 bytes.
inline constexpr size_t kEncodedBytesMax = 480;
inline constexpr char kShortenedMark = '\x80';
inline constexpr size_t kShortenedBytes = kEncodedBytesMax + 1 + 16;

// Appends the encoding of one value; `descending` reverses its order.
void append_encoded(std::string& out, bson::ValueView value, bool descending);
// What a part encodes to when the document has no such field (as null), and when its array is empty
// (as undefined).
void append_encoded_missing(std::string& out, bool descending);
void append_encoded_empty_array(std::string& out, bool descending);

// The number of bytes of the value's encoding that `encoded` begins with; nothing if the bytes end
// inside it (as they do in shortened keys) or are no encoding.
std::optional<size_t> encoded_size(std::string_view encoded, bool descending);

// Shortens the encoding that begins at `start` in `key`, if it is too long. True if it was.
bool shorten(std::string& key, size_t start = 0);

// 64 bits of the SHA-256 of an encoding: what a hashed index holds for a value. As equal values
// encode alike, they hash alike.
int64_t hash_of_encoded(std::string_view encoded);

inline bool is_shortened(std::string_view encoded) {
  return encoded.size() > kEncodedBytesMax;
}

}  // namespace gridmount::local
