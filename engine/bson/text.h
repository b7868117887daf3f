// Writes values as servers write them in messages:
//   { _id: ObjectId('...'), a: "x", n: 1.0 }
// The text is for people: long strings are truncated, and no function parses it. Source: the
// server's BSONElement::toString(), BSONObj::toString().
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Return the text of a value or a document. They truncate long values and write three dots after
// them: strings of more than 159 bytes to 150 bytes; code of more than 79 bytes and binary data of
// more than 80 bytes to 70 bytes. They do not truncate other text: field names, patterns, and code
// with a scope. Like servers, they may cut a string within a character. They do not change the
// bytes of a string that is not UTF-8. Values nested deeper than 100 levels appear as three dots.
std::string to_text(ValueView value);
std::string to_text(View document);

// Returns the UTF-8 character that begins at the byte `at`, as a view of `text`. If no valid
// character begins there, returns that byte alone. Returns an empty view at or after the end of
// `text`.
std::string_view character_at(std::string_view text, size_t at);

// Returns the text with each byte that is not UTF-8 replaced by \x and two hexadecimal digits.
// Drivers reject a whole reply if one of its strings is not UTF-8.
std::string valid_text(std::string_view text);

}  // namespace gridmount::bson
