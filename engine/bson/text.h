// Text of messages. Values as servers write them into messages: { _id: ObjectId('...'), a: "x",
// n: 1.0 }. For people to read: it cannot be read back, and long strings are cut. Source: the
// server's BSONElement::toString(), BSONObj::toString().
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Strings of more than 159 bytes are cut to 150, code of more than 79 and binaries of more than 80
// to 70; each ends in three dots then. A string may be cut within a character, as servers cut it;
// one that is not UTF-8 stays as it is. What is nested deeper than 100 levels is three dots.
std::string to_text(ValueView value);
std::string to_text(View document);

// The character that begins at that byte, all of it; the byte alone if it begins none. Nothing
// behind the end.
std::string_view character_at(std::string_view text, size_t at);

// The text with bytes that are not UTF-8 as \xff: drivers refuse a whole reply with such a string.
std::string valid_text(std::string_view text);

}  // namespace gridmount::bson
