// Values as servers write them into messages: { _id: ObjectId('...'), a: "x", n: 1.0 }. For people
// to read: it cannot be read back, and long strings are cut. Source: the server's
// BSONElement::toString(), BSONObj::toString().
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Strings of more than 159 bytes are cut to 150, code of more than 79 and binaries of more than 80
// to 70; each ends in three dots then. A string may be cut within a character, as servers cut it;
// one that is not UTF-8 stays as it is. What is nested deeper than 100 levels is three dots.
std::string to_text(ValueView value);
std::string to_text(View document);

}  // namespace gridmount::bson
