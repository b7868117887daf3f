// MongoDB Extended JSON v2, both ways. Writing is libbson's; reading is done here, because
// libbson's parser takes the query operator $type for a part of $binary, and some other texts for
// something else than they say (an ObjectId that is not hexadecimal for zeros, integers modulo
// 2^64). Source: "MongoDB Extended JSON (v2)", specifications repository.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::bson {

enum class JsonForm { kCanonical, kRelaxed };

// Bytes that are not UTF-8 appear as U+FFFD, because JSON cannot hold them: for messages, not for
// keeping.
std::string to_json(View document, JsonForm form);
std::string to_json(ValueView value, JsonForm form);

// One object, relaxed or canonical, {"$uuid": ...} included. FailedToParse with the byte at which
// the text is anything else, also if a value says what its type cannot hold, or is nested deeper
// than kMaxDepth. {"$type": ...} and {"$regex": ...} are read as the operators of queries, except
// in the pairs that stood for values in version 1 of the format.
Result<Document> document_from_json(std::string_view text);

}  // namespace gridmount::bson
