// MongoDB Extended JSON v2, both ways, over libbson.
// Source: "MongoDB Extended JSON (v2)", specifications repository.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"
#include "engine/error.h"

namespace gridmount::bson {

enum class JsonForm { kCanonical, kRelaxed };

// Bytes that are not UTF-8 appear as U+FFFD, because JSON cannot hold them: for messages, not for
// keeping.
std::string to_json(View document, JsonForm form);
std::string to_json(ValueView value, JsonForm form);

// One object, relaxed or canonical, {"$uuid": ...} included. FailedToParse with the position if the
// text is anything else, also if a value says what its type cannot hold, or is nested deeper than
// libbson reads (98).
Result<Document> document_from_json(std::string_view text);

}  // namespace gridmount::bson
