// Text for messages: values as servers write them in messages, such as { _id: ObjectId('...'), a:
// "x", n: 1.0 }. It is for people to read: it cannot be parsed back, and long strings are
// truncated. Source: the server's BSONElement::toString(), BSONObj::toString().
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Strings of more than 159 bytes are truncated to 150, code of more than 79 bytes and binaries of
// more than 80 to 70. A truncated value ends in three dots. Like servers, it may cut a string
// within a character. A string that is not UTF-8 stays as it is. Values nested deeper than 100
// levels appear as three dots.
std::string to_text(ValueView value);
std::string to_text(View document);

// Returns the whole character that begins at byte `at`, or that byte alone if no valid character
// begins there. Returns nothing at or after the end.
std::string_view character_at(std::string_view text, size_t at);

// Returns the text with \x and two hexadecimal digits in place of each byte that is not UTF-8.
// Drivers reject a whole reply if one of its strings has such bytes.
std::string valid_text(std::string_view text);

}  // namespace gridmount::bson
