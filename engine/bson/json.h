// MongoDB Extended JSON v2, written and read. libbson writes it. The parser is our own, because
// libbson's takes the query operator $type for a part of $binary, and misreads some other texts: an
// ObjectId that is not hexadecimal becomes zeros, and integers are taken modulo 2^64. Source:
// "MongoDB Extended JSON (v2)", specifications repository.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::bson {

enum class JsonForm { kCanonical, kRelaxed };

// Bytes that are not UTF-8 appear as U+FFFD, because JSON cannot hold them. So use the text for
// messages, not for storage.
std::string to_json(View document, JsonForm form);
std::string to_json(ValueView value, JsonForm form);

// Parses one object, relaxed or canonical, {"$uuid": ...} included. Fails with FailedToParse and
// the byte position if the text is anything else, if a value does not fit its type, or if it is
// nested deeper than kMaxDepth. {"$type": ...} and {"$regex": ...} are read as query operators,
// except in the pairs that were values in version 1 of the format.
Result<Document> document_from_json(std::string_view text);

}  // namespace gridmount::bson
